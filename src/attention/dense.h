#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// Dense synthesizer (paper, "Dense Synthesizer"): every token says by itself how it weighs every position.
///
///     S_ij = relu(x_i W_1 + b_1) · W_2[:, j] + b_2[j]        for each head, hidden width C (K unless set)
///
/// As parts: row = the hidden layer, column = W_2ᵀ, table = b_2, one row for all.
/// Parameters D·HC + HC + HCN + HN (D² + D + DN + HN for C = K). Multiply-adds of S for one sequence:
/// LDHC + L²HC. `hidden = 0` drops the hidden layer; `share_heads` has one W_2 and b_2 for all heads.
class Dense : public Synthesis {
 public:
  explicit Dense(const AttentionOptions& options);
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  bool rows_are_independent() const override { return true; }
  int64_t macs(int64_t length) const override;

 private:
  int64_t features() const { return hidden_ > 0 ? hidden_ : width_; }

  int64_t width_, heads_, max_length_, hidden_;
  bool share_heads_;
};

/// The option `hidden` and its checked value, for the variants that have a hidden layer.
OptionInfo hidden_option();
int64_t hidden_width(const AttentionOptions& options);

/// The declarations of that hidden layer: none where hidden = 0.
std::vector<Parameter> hidden_parameters(int64_t width, int64_t heads, int64_t hidden);
/// … and applied, B×H×L×C: relu(x Wᵀ + b), or x itself for every head where there is no hidden layer.
at::Tensor hidden_features(const Weights& weights, const at::Tensor& x, int64_t heads,
                           const PackedRows* packed);

}  // namespace synthesizer
