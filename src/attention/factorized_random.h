#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// Factorized random synthesizer (paper, "Factorized Models"): the random table as a product of rank k.
///
///     S_ij = R_1[m, i, :] · R_2[m, j, :]        for head m
///
/// Parameters 2HNk. Multiply-adds of S: HL²k, once for the whole batch. Each factor starts from
/// N(0, k^-1/4 sqrt(init_std)), so that the product has the standard deviation init_std.
class FactorizedRandom : public Synthesis {
 public:
  explicit FactorizedRandom(const AttentionOptions& options);
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  bool rows_are_independent() const override { return true; }
  int64_t macs(int64_t length) const override { return heads_ * length * length * rank_; }

 private:
  int64_t heads_, max_length_, rank_;
  double init_std_;
};

}  // namespace synthesizer
