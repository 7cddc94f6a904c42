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

int64_t group_count(const AttentionOptions& options) {
  const int64_t groups = options.options.integer("groups", options.heads);
  if (groups < options.heads || groups > options.width || options.width % groups != 0) {
    invalid(fmt::format(
        "option 'groups' is {}: it must be from heads {} to width {}, and the width divisible by it", groups,
        options.heads, options.width));
  }
  return groups;
}

at::Tensor gated(const Weights& weights, const at::Tensor& x) {
  return at::glu(project(weights, "glu", x), -1);
}

}  // namespace

std::vector<OptionInfo> Convolution::accepted_options() {
  return {{"kernel", "a whole number ≥ 1, odd unless causal", "width w of the kernel (default 7)"},
          {"groups", "a whole number from heads to width, which it divides",
           "how many kernels there are: each serves width/groups channels (default: one for each head)"}};
}

Convolution::Convolution(AttentionOptions given)
    : Mixer(std::move(given)), taps_(kernel_width(options())), groups_(group_count(options())) {
  const AttentionOptions& o = options();
  declare(projection("glu", o.width, 2 * o.width, o.bias));
  declare(projection("output", o.width, o.width, o.bias));
}

at::Tensor Convolution::kernel(const Weights& weights, const at::Tensor& z) const {
  const auto c = scores(weights, z);  // (B×L×)G×w
  // More groups than heads lie tap by tap in memory, and stay so.
  const bool by_tap = c.dim() == 4 && groups_ != options().heads;
  const auto taps = by_tap ? at::softmax(c.transpose(2, 3), 2).transpose(2, 3) : at::softmax(c, -1);
  return taps.to(z.scalar_type());  // under autocast parameters stay float32 while projections don't
}

at::Tensor Convolution::forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                                     bool training, const AddedLogits&) const {
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
  return project(weights, "output", weighted(kernel(weights, z), seen)).squeeze(1);
}

at::Tensor Convolution::weighted(const at::Tensor& kernel, const at::Tensor& seen) const {
  const int64_t n = seen.size(1);
  // What lies before the first position counts as zeros: the last n taps are those that meet something.
  const auto taps = kernel.narrow(-1, taps_ - n, n);          // (B×1×)G×n
  const auto own = taps.dim() == 4 ? taps.squeeze(1) : taps;  // (B×)G×n
  const int64_t batch = seen.size(0), width = options().width;
  if (groups_ == options().heads)
    return join_heads(at::matmul(own.unsqueeze(-2), split_heads(seen, groups_)));
  // Many small groups: tap by tap for all of them, so that a row's bits don't depend on the other rows.
  auto sum = at::zeros({batch, groups_, width / groups_}, seen.options());
  for (int64_t k = 0; k < n; ++k)
    sum.addcmul_(seen.select(1, k).view({batch, groups_, width / groups_}), own.select(-1, k).unsqueeze(-1));
  return sum.view({batch, 1, width});
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
    y.index_copy_(0, which, weighted(own, seen));
  }
  return project(weights, "output", y).squeeze(1);
}

int64_t Convolution::macs(int64_t length) const {
  const int64_t d = options().width;
  return length * d * (3 * d + taps_);
}

LightConvolution::LightConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  // Glorot's for one channel in and G out, as fairseq starts it.
  declare({{"kernel.weight", Role::logits, {groups(), taps()}, Init::xavier(taps(), groups() * taps())}});
}

at::Tensor LightConvolution::scores(const Weights& weights, const at::Tensor&) const {
  return weights["kernel.weight"];
}

DynamicConvolution::DynamicConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  declare(projection("kernel", options().width, groups() * taps(), /*bias=*/false));
}

at::Tensor DynamicConvolution::scores(const Weights& weights, const at::Tensor& z) const {
  const auto all = project(weights, "kernel", z);
  const auto b = z.sym_size(0), l = z.sym_size(1);
  if (groups() == options().heads) return all.view_symint({b, l, groups(), taps()});
  return all.view_symint({b, l, taps(), groups()}).transpose(2, 3);
}

int64_t DynamicConvolution::macs(int64_t length) const {
  return Convolution::macs(length) + length * options().width * groups() * taps();
}

}  // namespace synthesizer
