#include "attention/vanilla.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/heads.h"

namespace synthesizer {

std::vector<Parameter> Vanilla::parameters() const {
  return {{"query.weight", {width_, width_}, Init::xavier(width_, width_)},
          {"key.weight", {width_, width_}, Init::xavier(width_, width_)}};
}

Logits Vanilla::logits(const Weights& weights, const at::Tensor& x, const Window&) const {
  Logits logits;
  logits.query = split_heads(at::linear(x, weights["query.weight"]), heads_);  // B×H×L×K
  logits.key = split_heads(at::linear(x, weights["key.weight"]), heads_);      // B×H×L×K
  logits.scale = 1.0 / std::sqrt(static_cast<double>(width_ / heads_));
  return logits;
}

int64_t Vanilla::macs(int64_t length) const {
  return 2 * length * width_ * width_ + length * length * width_;
}

}  // namespace synthesizer
