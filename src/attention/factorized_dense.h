#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// Factorized dense synthesizer (paper, "Factorized Models"): a token gives two short vectors, and the row is
/// made of their products.
///
///     S_ij = A_i[j mod a] · B_i[j div a],   A_i = F_A(x_i) in R^a,  B_i = F_B(x_i) in R^b,  a·b ≥ N
///
/// F_A and F_B share one hidden layer of width C (K unless set) per head, as in dense. `tiling = "tile"`
/// repeats both vectors instead: A_i[j mod a] · B_i[j mod b], all pairs only where gcd(a, b) = 1.
/// Parameters D·HC + HC + HC(a+b) + H(a+b). Multiply-adds of S: LDHC + LHC(a+b) + HL².
class FactorizedDense : public Synthesis {
 public:
  explicit FactorizedDense(const AttentionOptions& options);
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  void prepare_growth(AttentionOptions& larger) const override;
  int64_t macs(int64_t length) const override;

 private:
  int64_t features() const { return hidden_ > 0 ? hidden_ : width_; }

  int64_t width_, heads_, hidden_, a_, b_;
  bool tile_;
};

}  // namespace synthesizer
