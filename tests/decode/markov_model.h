#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "decode/hypothesis.h"
#include "model/step_model.h"

namespace synthesizer::testing {

/// The tokens that texts begin and end with; some tests begin with another one.
inline constexpr int64_t kEnd = 0, kBegin = 1, kOtherBegin = 2;

/// A model small enough to be known in full: the logits of the next token stand in a table of the last two.
/// Each sentence has a table of its own, so that rows of different sentences are never taken for one another.
class MarkovModel : public StepModel {
 public:
  /// tables: S×(V+1)×(V+1)×V by sentence, last token but one, last token; index V stands for a token that
  /// isn't there (before the first) or isn't one of the V.
  explicit MarkovModel(at::Tensor tables, int64_t max_length = 100);

  int64_t rows() const override { return static_cast<int64_t>(rows_.size()); }
  int64_t max_length() const override { return max_length_; }
  at::Tensor step(const at::Tensor& tokens) override;
  void reorder(const at::Tensor& indices) override;

  struct Row {
    int64_t sentence;
    std::vector<int64_t> fed;
  };
  const std::vector<Row>& state() const { return rows_; }
  const std::vector<int64_t>& rows_at_steps() const { return rows_at_steps_; }  ///< rows fed at each step
  int64_t reorders() const { return reorders_; }

 private:
  at::Tensor tables_;
  int64_t max_length_;
  std::vector<Row> rows_;
  std::vector<int64_t> rows_at_steps_;
  int64_t reorders_ = 0;
};

/// Normal numbers, the same for the same seed.
at::Tensor random_tables(int64_t sentences, int64_t vocabulary, uint64_t seed);

/// The same logits whatever came before, for each of the sentences.
at::Tensor constant_tables(int64_t sentences, const std::vector<float>& logits);

/// Every output of at most `limit` tokens and at least `min_length`, by plain recursion in double precision;
/// best first by the formula of the normalisation, written here once more.
std::vector<Hypothesis> exhaustive(const at::Tensor& table, int64_t begin, int64_t end, int64_t limit,
                                   const DecodeOptions& options);

/// Same tokens in the same order, same `finished`; scores within what float32 logits allow.
void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b, double tolerance = 0);

}  // namespace synthesizer::testing
