#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// The ordinary alignment of the Transformer (Vaswani et al. 2017):
///
///     S_ij = (x_i W_Q) · (x_j W_K) / sqrt(K)
///
/// Parameters 2D². Multiply-adds of S for one sequence: 2LD² + L²D.
///
/// With the option query_bias, b_Q is added to the queries (D parameters more). A bias of the keys would add
/// the same number to a whole row of S, which softmax cancels: models of other programs that have one lose
/// nothing without it.
class Vanilla : public Synthesis {
 public:
  explicit Vanilla(const AttentionOptions& options)
      : width_(options.width),
        heads_(options.heads),
        query_bias_(options.options.flag("query_bias", false)) {}
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  bool rows_are_independent() const override { return true; }
  int64_t macs(int64_t length) const override;

 private:
  int64_t width_, heads_;
  bool query_bias_;
};

}  // namespace synthesizer
