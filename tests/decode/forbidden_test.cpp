// A token that a model forbids is never chosen, and the others keep their probabilities.

#include <algorithm>
#include <cmath>

#include "decode/beam.h"
#include "decode/greedy.h"
#include "decode/markov_model.h"
#include "decode/sample.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t kForbidden = 3, kWords = 5;

class ForbiddingModel : public MarkovModel {
 public:
  using MarkovModel::MarkovModel;
  int64_t forbidden() const override { return kForbidden; }
};

/// Random logits in which the forbidden token is the likeliest nearly everywhere.
at::Tensor tempting_tables(uint64_t seed) {
  auto tables = random_tables(1, kWords, seed);
  tables.select(3, kForbidden).add_(4);
  return tables;
}

bool has_forbidden(const std::vector<int64_t>& tokens) {
  return std::find(tokens.begin(), tokens.end(), kForbidden) != tokens.end();
}

TEST(Forbidden, BeamSearchFindsTheBestOfTheRest) {
  const int64_t limit = 3, width = 125;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const auto tables = tempting_tables(seed);
    const DecodeOptions options{.beam = width, .early_stopping = false, .nbest = width};
    auto expected = exhaustive(tables[0], kBegin, kEnd, limit, options);
    const size_t all = expected.size();
    std::erase_if(expected, [](const Hypothesis& one) { return has_forbidden(one.tokens); });
    ASSERT_LT(expected.size(), all);
    ForbiddingModel model(tables);
    expect_same(beam_search(model, kBegin, kEnd, {limit}, options).at(0), expected, 1e-5);
  }
}

TEST(Forbidden, RenormalizedItIsAsIfTheModelDidNotHaveIt) {
  const int64_t limit = 3, width = 125;
  for (const int64_t least : {0, 2}) {
    const auto tables = tempting_tables(3);
    DecodeOptions options{.beam = width, .early_stopping = false, .min_length = least, .nbest = width};
    ForbiddingModel model(tables);
    options.renormalize = true;
    const auto found = beam_search(model, kBegin, kEnd, {limit}, options).at(0);
    auto without = tables.clone();  // a token that is next to impossible
    without.select(3, kForbidden).fill_(-100);
    if (least == 0) {
      auto expected = exhaustive(without[0], kBegin, kEnd, limit, options);
      std::erase_if(expected, [](const Hypothesis& one) { return has_forbidden(one.tokens); });
      expect_same(found, expected, 1e-5);
      continue;
    }
    // Before the minimum the end is left out of the sum: what has 2 tokens and more has the sum 1.
    double sum = 0;
    for (const Hypothesis& one : found) sum += std::exp(one.log_probability);
    EXPECT_LE(sum, 1 + 1e-5);
    double longer = 0;
    options.renormalize = false;
    MarkovModel other(without);
    const auto plain = beam_search(other, kBegin, kEnd, {limit}, options).at(0);
    for (const Hypothesis& one : plain) {
      if (!has_forbidden(one.tokens)) longer += std::exp(one.log_probability);
    }
    EXPECT_LT(longer, sum);
  }
}

TEST(Forbidden, GreedySearchIsABeamOfOne) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const DecodeOptions options{.beam = 1};
    ForbiddingModel one(tempting_tables(seed)), other(tempting_tables(seed));
    const auto greedy = greedy_search(one, kBegin, kEnd, {8}, options).at(0);
    EXPECT_FALSE(has_forbidden(greedy.at(0).tokens));
    expect_same(greedy, beam_search(other, kBegin, kEnd, {8}, options).at(0), 1e-6);
  }
}

TEST(Forbidden, SamplingNeverDrawsIt) {
  for (const double temperature : {0.0, 1.0}) {
    ForbiddingModel model(tempting_tables(7), 100000);
    const auto drawn = sample(model, {{kBegin}}, 2000, -1, {.temperature = temperature}).at(0);
    EXPECT_EQ(drawn.size(), 2000U);
    EXPECT_FALSE(has_forbidden(drawn));
  }
}

}  // namespace
}  // namespace synthesizer::testing
