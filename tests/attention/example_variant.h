#pragma once

#include "attention/options.h"
#include "attention/synthesis.h"

namespace example {

/// A variant added from outside the library: one number per distance between two positions.
///
///     S_ij = table[m, i - j + N - 1]        for head m, trained
///
/// Parameters H(2N - 1); S depends on no token and needs no product.
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
