#include "model/positions.h"

#include <ATen/ATen.h>

#include <cmath>

namespace synthesizer {
namespace {

constexpr double kFarthest = 128;

}  // namespace

at::Tensor sinusoids(int64_t length, int64_t width) {
  const auto place = at::arange(length, at::kDouble).unsqueeze(1);  // N×1
  const auto rate =
      at::exp(at::arange(0, width, 2, at::kDouble) * (-std::log(1e4) / static_cast<double>(width)));
  const auto angle = place * rate;  // N×D/2
  return at::stack({angle.sin(), angle.cos()}, 2).view({length, width}).to(at::kFloat);
}

at::Tensor split_sinusoids(int64_t length, int64_t width) {
  return sinusoids(length, width).view({length, width / 2, 2}).transpose(1, 2).reshape({length, width});
}

Positions::Positions(const ModelOptions& options, bool causal) : causal_(causal) {
  switch (options.positions) {
    case PositionKind::sinusoidal:
      vectors_ = sinusoids(options.max_length, options.width);  // a formula: nothing to save
      break;
    case PositionKind::split_sinusoidal: vectors_ = split_sinusoids(options.max_length, options.width); break;
    case PositionKind::learned:
      // From there rather than from noise: it learns twice as fast at first.
      vectors_ = declare("weight", Role::embedding, sinusoids(options.max_length, options.width));
      break;
    case PositionKind::relative:
      table_ = declare({"relative", Role::logits, {kRelativeBuckets, options.heads}, Init::normal(0.1)});
      break;
    case PositionKind::none: break;
  }
}

at::Tensor Positions::add(const at::Tensor& x, int64_t begin) const {
  if (!vectors_.defined()) return x;
  return x + vectors_.narrow(0, begin, x.size(1)).to(x.scalar_type());
}

at::Tensor Positions::add_at(const at::Tensor& x, const at::Tensor& positions) const {
  if (!vectors_.defined()) return x;
  return x + vectors_.index_select(0, positions).to(x.scalar_type());
}

at::Tensor Positions::all_biases(int64_t length) const {
  if (!table_.defined()) return {};
  auto all = at::zeros({table_.size(1), length, length}, table_.options());
  for (int64_t t = 0; t < length; ++t)
    all.select(1, t).narrow(1, 0, t + 1).copy_(bias(t, 1, t + 1).select(1, 0));
  return all;
}

at::Tensor Positions::bias(int64_t begin, int64_t rows, int64_t columns) const {
  if (!table_.defined()) return {};
  const auto buckets = relative_buckets(begin, rows, columns, causal_).flatten();
  return table_.index_select(0, buckets).t().reshape({table_.size(1), rows, columns});
}

at::Tensor relative_buckets(int64_t begin, int64_t rows, int64_t columns, bool causal) {
  auto distance = at::arange(columns, at::kLong) - (at::arange(rows, at::kLong) + begin).unsqueeze(1);
  int64_t buckets = kRelativeBuckets;
  at::Tensor offset = at::zeros_like(distance);
  if (causal) {
    distance = (-distance).clamp_min(0);
  } else {
    buckets /= 2;
    offset = distance.gt(0).to(at::kLong) * buckets;
    distance = distance.abs();
  }
  const int64_t exact = buckets / 2;
  // In T5's order and precision: some distances lie on the border of two buckets but for the rounding.
  const auto share = at::log(distance.clamp_min(1).to(at::kFloat) / static_cast<double>(exact)) /
                     std::log(kFarthest / static_cast<double>(exact));
  const auto far = (share * (buckets - exact)).to(at::kLong).add(exact).clamp_max(buckets - 1);
  return offset + at::where(distance.lt(exact), distance, far);
}

}  // namespace synthesizer
