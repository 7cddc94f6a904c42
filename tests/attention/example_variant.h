#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace example {

/// A seventh variant, as anybody can add one: a number for each distance between two positions.
///
///     S_ij = table[m, i - j + N - 1]        for head m, trained
///
/// Parameters H(2N - 1); no product is needed for S, and no token is looked at.
class Distance : public synthesizer::Synthesis {
 public:
  explicit Distance(const synthesizer::AttentionOptions& options)
      : heads_(options.heads), max_length_(options.max_length) {}

  std::vector<synthesizer::Parameter> parameters() const override;
  synthesizer::Logits logits(const synthesizer::Weights& weights, const at::Tensor& x,
                             const synthesizer::RowRange& range) const override;
  void prepare_growth(synthesizer::AttentionOptions& larger) const override;
  int64_t macs(int64_t) const override { return 0; }

 private:
  int64_t heads_, max_length_;
};

}  // namespace example
