#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "decode/hypothesis.h"

namespace synthesizer {

/// One sentence of a greedy search that others may join and leave at any step (continuous batching). It gets
/// the result that greedy_search gives for it alone.
class GreedySentence {
 public:
  /// `limit`: tokens of the output at most, see output_limits. `begin`: what it is fed first.
  GreedySentence(int64_t begin, int64_t limit, const DecodeOptions& options)
      : options_(options), limit_(limit), next_(begin) {}

  bool done() const { return done_; }
  int64_t next() const { return next_; }                          ///< the token to feed; not after the end
  const std::vector<int64_t>& tokens() const { return tokens_; }  ///< written so far
  const Hypothesis& result() const { return result_; }            ///< once it is done

  const DecodeOptions& options() const { return options_; }

  /// The most likely token with its log-probability, and the end's.
  void advance(int64_t token, float value, int64_t end, float end_value);

 private:
  DecodeOptions options_;
  int64_t limit_, next_;
  bool done_ = false;
  double sum_ = 0;
  std::vector<int64_t> tokens_;
  Hypothesis result_;
};

/// Advances each sentence by one token: logits B×V, a row for each. `forbidden` is never chosen (-1: none
/// is), see StepModel. Throws std::runtime_error where a row is not a number.
void advance_greedily(const at::Tensor& logits, int64_t end, int64_t forbidden,
                      std::span<GreedySentence* const> sentences);

}  // namespace synthesizer
