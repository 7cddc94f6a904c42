#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// The ordinary alignment of the Transformer (Vaswani et al. 2017):
///
///     S_ij = (x_i W_Q) · (x_j W_K) / sqrt(K)
///
/// Parameters 2D². Multiply-adds of S for one sequence: 2LD² + L²D.
class Vanilla : public Synthesis {
 public:
  explicit Vanilla(const AttentionOptions& options) : width_(options.width), heads_(options.heads) {}

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  int64_t macs(int64_t length) const override;

 private:
  int64_t width_, heads_;
};

}  // namespace synthesizer
