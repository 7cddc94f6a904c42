#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// Random synthesizer (paper, "Random Synthesizer"): a trained table, independent of the tokens.
///
///     S_ij = R[m, i, j]        for head m, trained with everything else
///
/// Parameters HN²; no product at all is needed for S. It starts from N(0, init_std).
class Random : public Synthesis {
 public:
  explicit Random(const AttentionOptions& options) : Random(options, /*trained=*/true) {}
  static std::vector<OptionInfo> options();

  std::vector<Parameter> parameters() const override;
  Logits logits(const Weights& weights, const at::Tensor& x, const RowRange& range) const override;
  bool rows_are_independent() const override { return true; }
  int64_t macs(int64_t) const override { return 0; }

 protected:
  Random(const AttentionOptions& options, bool trained);

 private:
  int64_t heads_, max_length_;
  double init_std_;
  bool trained_;
};

/// Fixed random: the same table as a buffer, left as it was drawn.
class FixedRandom : public Random {
 public:
  explicit FixedRandom(const AttentionOptions& options) : Random(options, /*trained=*/false) {}
};

/// The option `init_std` and its checked value, for the variants that start from noise.
OptionInfo init_std_option();
double init_std(const AttentionOptions& options);

}  // namespace synthesizer
