// Greedy search is beam search of width 1, to the last bit of its scores.

#include "decode/greedy.h"

#include <cmath>

#include "base/error.h"
#include "decode/beam.h"
#include "decode/logits.h"
#include "decode/markov_model.h"

namespace synthesizer::testing {
namespace {

std::vector<std::vector<Hypothesis>> greedy(const at::Tensor& tables, const std::vector<int64_t>& limits,
                                            const DecodeOptions& options) {
  MarkovModel model(tables);
  return greedy_search(model, kOtherBegin, kEnd, limits, options);
}

struct GreedyCase {
  LengthNormalization normalization;
  int64_t vocabulary, min_length;
  bool early;
};

class GreedyAgainstBeam : public ::testing::TestWithParam<GreedyCase> {};

TEST_P(GreedyAgainstBeam, IsTheSame) {
  const auto& [normalization, vocabulary, min_length, early] = GetParam();
  const std::vector<int64_t> limits{4, 25, 0, 9, 1, 17};
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto tables = random_tables(static_cast<int64_t>(limits.size()), vocabulary, seed);
    const DecodeOptions options{
        .beam = 1, .length_normalization = normalization, .early_stopping = early, .min_length = min_length};
    MarkovModel model(tables);
    const auto expected = beam_search(model, kOtherBegin, kEnd, limits, options);
    const auto found = greedy(tables, limits, options);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t n = 0; n < found.size(); ++n) expect_same(found[n], expected[n]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GreedyAgainstBeam,
                         ::testing::Values(GreedyCase{LengthNormalization::power, 5, 0, true},
                                           GreedyCase{LengthNormalization::power, 3, 0, false},
                                           GreedyCase{LengthNormalization::gnmt, 4, 3, true},
                                           GreedyCase{LengthNormalization::power, 40, 1, true},
                                           GreedyCase{LengthNormalization::gnmt, 2, 2, false},
                                           GreedyCase{LengthNormalization::power, 1, 0, true}));

TEST(Greedy, TakesTheMostLikelyTokenAtEachStep) {
  const auto tables = random_tables(1, 6, 9);
  const auto found = greedy(tables, {5}, {.min_length = 5}).at(0).at(0);
  std::vector<int64_t> fed{6, kOtherBegin};
  double sum = 0;
  for (int64_t token : found.tokens) {
    auto logits = tables[0][fed[fed.size() - 2]][fed.back()].to(at::kDouble);
    EXPECT_EQ(token, logits.slice(0, 1).argmax().item<int64_t>() + 1);  // the end, token 0, is not allowed
    sum += logits.log_softmax(0)[token].item<double>();
    fed.push_back(token);
  }
  sum += tables[0][fed[fed.size() - 2]][fed.back()].to(at::kDouble).log_softmax(0)[kEnd].item<double>();
  EXPECT_NEAR(found.log_probability, sum, 1e-5);
  EXPECT_NEAR(found.score, sum / std::pow(6, 0.6), 1e-5);
  EXPECT_FALSE(found.finished);
}

TEST(Greedy, StopsAtTheEnd) {
  const auto found = greedy(constant_tables(1, {1, 0, 0}), {5}, {}).at(0).at(0);
  EXPECT_TRUE(found.tokens.empty());
  EXPECT_TRUE(found.finished);
}

TEST(Greedy, RowsMoveOnlyToDropFinishedOnes) {
  MarkovModel model(constant_tables(3, {-9, 1, 0}));
  greedy_search(model, kOtherBegin, kEnd, {2, 2, 4}, {});
  EXPECT_EQ(model.rows_at_steps(), (std::vector<int64_t>{3, 3, 3, 1, 1}));
  EXPECT_EQ(model.reorders(), 1);
  EXPECT_EQ(model.state().at(0).sentence, 2);
}

TEST(Greedy, EqualOnesAreTakenByTheLowerToken) {
  EXPECT_EQ(greedy(constant_tables(1, std::vector<float>(300, 0)), {2}, {.min_length = 2}).at(0).at(0).tokens,
            (std::vector<int64_t>{1, 1}));
}

TEST(Greedy, EndsBelowTheMinimumWhereNothingElseIsPossible) {
  const auto found = greedy(constant_tables(1, {0, never}), {5}, {.min_length = 2}).at(0).at(0);
  EXPECT_TRUE(found.tokens.empty());
  EXPECT_EQ(found.log_probability, 0);
}

TEST(Greedy, AnEmptyBatchGivesAnEmptyResult) {
  EXPECT_TRUE(greedy(random_tables(0, 3, 1), {}, {}).empty());
}

TEST(Greedy, OutputThatIsNotANumberIsRefused) {
  for (const auto& logits :
       std::vector<std::vector<float>>{{0, std::nanf("")}, {std::nanf(""), 0}, {never, never}}) {
    for (int64_t least : {0, 1}) {
      EXPECT_THROW(greedy(constant_tables(1, logits), {3}, {.min_length = least}), std::runtime_error);
    }
  }
}

TEST(Greedy, MistakesAreNamed) {
  EXPECT_THROW(greedy(random_tables(1, 3, 1), {1, 2}, {}), InvalidInput);
  EXPECT_THROW(greedy(random_tables(1, 3, 1), {1}, {.min_length = -1}), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
