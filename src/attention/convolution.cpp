#include "attention/convolution.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "attention/heads.h"
#include "attention/kernel/convolve.h"
#include "attention/projection.h"

namespace synthesizer {
namespace {

int64_t kernel_width(const AttentionOptions& options) {
  const int64_t width = options.options.whole("kernel", 7);
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

std::vector<OptionInfo> Convolution::options_taken() {
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

at::Tensor Convolution::mix(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                            bool training, const at::Tensor&) const {
  const Weights weights(parameters(), all);
  const auto z = gated(weights, x);  // B×L×D
  const auto dropped = at::dropout(kernel(weights, z), options().dropout, training);
  const int64_t left = options().causal ? taps_ - 1 : taps_ / 2;
  return project(weights, "output", convolve(z, dropped, lengths, left));
}

at::Tensor Convolution::mix_row(const LayerWeights& all, const at::Tensor& x, State& state,
                                const at::Tensor&) const {
  const Weights weights(parameters(), all);
  const auto z = gated(weights, x.unsqueeze(1));       // B×1×D
  const auto seen = state.slide(z.squeeze(1), taps_);  // B×n×D, n ≤ w
  const int64_t n = seen.size(1);
  // What lies before the first position counts as zeros: the last n taps are those that meet something.
  const auto taps = kernel(weights, z).narrow(-1, taps_ - n, n).unsqueeze(-2);  // (B×1×)H×1×n
  const auto own = taps.dim() == 5 ? taps.squeeze(1) : taps;                    // (B×)H×1×n
  const auto y = at::matmul(own, split_heads(seen, options().heads));           // B×H×1×K
  return project(weights, "output", join_heads(y)).squeeze(1);
}

int64_t Convolution::macs(int64_t length) const {
  const int64_t d = options().width;
  return length * d * (3 * d + taps_);
}

LightConvolution::LightConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  // Glorot's for one channel in and H out, as fairseq starts it.
  const int64_t h = options().heads;
  declare(as_synthesis({{"kernel.weight", Role::logits, {h, taps()}, Init::xavier(taps(), h * taps())}}));
}

at::Tensor LightConvolution::scores(const Weights& weights, const at::Tensor&) const {
  return weights["kernel.weight"];
}

DynamicConvolution::DynamicConvolution(AttentionOptions given) : Convolution(std::move(given)) {
  declare(as_synthesis(projection("kernel", options().width, options().heads * taps(), /*bias=*/false)));
}

at::Tensor DynamicConvolution::scores(const Weights& weights, const at::Tensor& z) const {
  return project(weights, "kernel", z).view({z.size(0), z.size(1), options().heads, taps()});
}

int64_t DynamicConvolution::macs(int64_t length) const {
  return Convolution::macs(length) + length * options().width * options().heads * taps();
}

}  // namespace synthesizer
