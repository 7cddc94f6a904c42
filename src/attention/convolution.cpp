#include "attention/convolution.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/heads.h"
#include "attention/kernel/convolve.h"
#include "attention/projection.h"

namespace synthesizer {
namespace {

int64_t kernel_width(const AttentionOptions& options) {
  const int64_t width = options.options.integer("kernel", 7);
  if (width < 1) invalid(fmt::format("option 'kernel' is {}: it must be at least 1", width));
  if (!options.causal && width % 2 == 0) {
    invalid(fmt::format("option 'kernel' is {}: it must be odd where the window is centred (causal = false)",
                        width));
  }
  return width;
}

at::Tensor gated(const Weights& weights, const at::Tensor& x) {
  return at::glu(project(weights, "glu", x), -1);
}

}  // namespace

std::vector<OptionInfo> Convolution::accepted_options() {
  return {{"kernel", "a whole number ≥ 1, odd unless causal", "width w of the kernel (default 7)"}};
}

Convolution::Convolution(AttentionOptions given) : Mixer(std::move(given)), taps_(kernel_width(options())) {
  const AttentionOptions& o = options();
  declare(projection("glu", o.width, 2 * o.width, o.bias));
  declare(projection("output", o.width, o.width, o.bias));
}

at::Tensor Convolution::kernel(const Weights& weights, const at::Tensor& z) const {
  // Under autocast parameters stay float32 while projections don't.
  return at::softmax(scores(weights, z), -1).to(z.scalar_type());
}

at::Tensor Convolution::forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                                     bool training, const at::Tensor&) const {
  const Weights weights(parameters(), all);
  const auto z = gated(weights, x);  // B×L×D
  const auto dropped = at::dropout(kernel(weights, z), options().dropout, training);
  const int64_t left = options().causal ? taps_ - 1 : taps_ / 2;
  return project(weights, "output", convolve(z, dropped, lengths, left));
}

at::Tensor Convolution::step_impl(const LayerWeights& all, const at::Tensor& x, State& state,
                                  const at::Tensor&) const {
  const Weights weights(parameters(), all);
  const auto z = gated(weights, x.unsqueeze(1));       // B×1×D
  const auto seen = state.slide(z.squeeze(1), taps_);  // B×n×D, n ≤ w
  return project(weights, "output", join_heads(weighted(kernel(weights, z), seen))).squeeze(1);
}

at::Tensor Convolution::weighted(const at::Tensor& kernel, const at::Tensor& seen) const {
  const int64_t n = seen.size(1);
  // What lies before the first position counts as zeros: the last n taps are those that meet something.
  const auto taps = kernel.narrow(-1, taps_ - n, n).unsqueeze(-2);  // (B×1×)H×1×n
  const auto own = taps.dim() == 5 ? taps.squeeze(1) : taps;        // (B×)H×1×n
  return at::matmul(own, split_heads(seen, options().heads));
}

at::Tensor Convolution::step_slots_impl(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                                        const SlotRows& rows, const at::Tensor&) const {
  const Weights weights(parameters(), all);
  const auto z = gated(weights, x.unsqueeze(1));  // B×1×D
  cache.put_input(rows, z.squeeze(1), taps_);
  const auto kernels = kernel(weights, z);
  auto y = at::empty({rows.size(), 1, options().width}, z.options());
  // Rows that have seen equally many inputs are computed together.
  for (int64_t n = 1; n <= taps_; ++n) {
    std::vector<int64_t> members, places;
    for (int64_t b = 0; b < rows.size(); ++b) {
      const int64_t t = rows.positions[static_cast<size_t>(b)];
      if (std::min(t + 1, taps_) != n) continue;
      members.push_back(b);
      for (int64_t earlier = t + 1 - n; earlier <= t; ++earlier)
        places.push_back(rows.slots[static_cast<size_t>(b)] * taps_ + earlier % taps_);
    }
    if (members.empty()) continue;
    const auto count = static_cast<int64_t>(members.size());
    const auto seen = cache.inputs()
                          .view({-1, options().width})
                          .index_select(0, at::tensor(at::ArrayRef<int64_t>(places), at::kLong))
                          .view({count, n, options().width});
    const auto which = at::tensor(at::ArrayRef<int64_t>(members), at::kLong);
    const auto own = kernels.dim() == 4 ? kernels.index_select(0, which) : kernels;
    y.index_copy_(0, which, join_heads(weighted(own, seen)));
  }
  return project(weights, "output", y).squeeze(1);
}

int64_t Convolution::macs(int64_t length) const {
  const int64_t d = options().width;
  return length * d * (3 * d + taps_);
}

LightConvolution::LightConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  // Glorot's for one channel in and H out, as fairseq starts it.
  const int64_t h = options().heads;
  declare({{"kernel.weight", Role::logits, {h, taps()}, Init::xavier(taps(), h * taps())}});
}

at::Tensor LightConvolution::scores(const Weights& weights, const at::Tensor&) const {
  return weights["kernel.weight"];
}

DynamicConvolution::DynamicConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  declare(projection("kernel", options().width, options().heads * taps(), /*bias=*/false));
}

at::Tensor DynamicConvolution::scores(const Weights& weights, const at::Tensor& z) const {
  return project(weights, "kernel", z).view({z.size(0), z.size(1), options().heads, taps()});
}

int64_t DynamicConvolution::macs(int64_t length) const {
  return Convolution::macs(length) + length * options().width * options().heads * taps();
}

}  // namespace synthesizer
