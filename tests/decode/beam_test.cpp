// Beam search finds what exhaustive search finds where it is wide enough, and does what its options say
// elsewhere.

#include "decode/beam.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "decode/logits.h"
#include "decode/markov_model.h"
#include "decode/search_one.h"

namespace synthesizer::testing {
namespace {

std::vector<std::vector<Hypothesis>> search(const at::Tensor& tables, std::vector<int64_t> limits,
                                            const DecodeOptions& options) {
  MarkovModel model(tables);
  return beam_search(model, kBegin, kEnd, limits, options);
}

struct Exhaustive {
  LengthNormalization normalization;
  double alpha;
  bool early;
  int64_t min_length;
};

class BeamAgainstExhaustive : public ::testing::TestWithParam<Exhaustive> {};

TEST_P(BeamAgainstExhaustive, IsTheSameWhereTheBeamHoldsEverything) {
  const int64_t vocabulary = 4, limit = 3, width = 64;  // V^L
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const auto tables = random_tables(1, vocabulary, seed);
    const DecodeOptions options{.beam = width,
                                .length_penalty = GetParam().alpha,
                                .length_normalization = GetParam().normalization,
                                .early_stopping = GetParam().early,
                                .min_length = GetParam().min_length,
                                .nbest = width};
    const auto expected = exhaustive(tables[0], kBegin, kEnd, limit, options);
    expect_same(search_one(tables, limit, options), expected, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BeamAgainstExhaustive,
                         ::testing::Values(Exhaustive{LengthNormalization::power, 0.6, true, 0},
                                           Exhaustive{LengthNormalization::power, 1, false, 0},
                                           Exhaustive{LengthNormalization::power, -0.7, false, 0},
                                           Exhaustive{LengthNormalization::power, 0, true, 2},
                                           Exhaustive{LengthNormalization::gnmt, 0.6, true, 0},
                                           Exhaustive{LengthNormalization::gnmt, 2, false, 0},
                                           Exhaustive{LengthNormalization::gnmt, 1, true, 3}));

TEST(Beam, WithoutEarlyStoppingTheWorstFinishedOnesGiveWay) {
  // Two tokens beside the end and at most 4 of them: never more than 24 candidates, but 31 outputs.
  for (const auto normalization : {LengthNormalization::power, LengthNormalization::gnmt}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const auto tables = random_tables(1, 3, seed);
      const DecodeOptions options{.beam = 24,
                                  .length_penalty = 1.5,
                                  .length_normalization = normalization,
                                  .early_stopping = false,
                                  .nbest = 24};
      auto expected = exhaustive(tables[0], kBegin, kEnd, 4, options);
      ASSERT_EQ(expected.size(), 31U);
      expected.resize(24);
      expect_same(search_one(tables, 4, options), expected, 1e-5);
    }
  }
}

TEST(Beam, TokensOfProbabilityZeroAreNeverTaken) {
  const auto found = search_one(constant_tables(1, {0, never, 0.1F, never}), 4, {.beam = 8, .nbest = 8});
  EXPECT_EQ(found.size(), 5U);  // 0 to 4 times token 2
  for (const auto& hypothesis : found) {
    for (int64_t token : hypothesis.tokens) EXPECT_EQ(token, 2);
    EXPECT_TRUE(std::isfinite(hypothesis.score));
  }
}

TEST(Beam, TheNBestAreDistinctAndInOrder) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (bool early : {true, false}) {
      const auto found =
          search_one(random_tables(1, 9, seed), 12, {.beam = 6, .early_stopping = early, .nbest = 6});
      ASSERT_EQ(found.size(), 6U);
      std::set<std::vector<int64_t>> distinct;
      for (const auto& hypothesis : found) distinct.insert(hypothesis.tokens);
      EXPECT_EQ(distinct.size(), 6U);
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                                 [](const auto& a, const auto& b) { return a.score > b.score; }));
    }
  }
}

TEST(Beam, AFewerBestAreTheFirstOfMore) {
  const auto tables = random_tables(1, 9, 4);
  auto all = search_one(tables, 10, {.beam = 5, .nbest = 5});
  all.resize(2);
  expect_same(search_one(tables, 10, {.beam = 5, .nbest = 2}), all);
}

TEST(Beam, ABatchGivesEachSentenceWhatItGetsAlone) {
  const auto tables = random_tables(8, 7, 11);
  const std::vector<int64_t> limits{3, 12, 1, 30, 7, 0, 12, 5};
  for (bool early : {true, false}) {
    for (int64_t beam : {1, 2, 4, 9}) {
      const DecodeOptions options{.beam = beam, .early_stopping = early, .min_length = 2, .nbest = beam};
      const auto together = search(tables, limits, options);
      ASSERT_EQ(together.size(), limits.size());
      for (size_t n = 0; n < limits.size(); ++n) {
        const auto own = tables.slice(0, static_cast<int64_t>(n), static_cast<int64_t>(n) + 1);
        expect_same(together[n], search_one(own, limits[n], options));
      }
    }
  }
}

TEST(Beam, RowsOfFinishedSentencesAreDropped) {
  MarkovModel model(constant_tables(3, {-30, 1, 0, 0.5}));
  beam_search(model, kBegin, kEnd, {1, 3, 2}, {.beam = 2});
  EXPECT_EQ(model.rows_at_steps(), (std::vector<int64_t>{3, 6, 4, 2}));
  for (const auto& row : model.state()) {
    EXPECT_EQ(row.sentence, 1);
    EXPECT_EQ(row.fed.size(), 4U);
    EXPECT_EQ(row.fed[0], kBegin);
  }
}

TEST(Beam, TheModelWasFedTheHypothesesItself) {
  MarkovModel model(random_tables(1, 6, 21));
  const auto found = beam_search(model, kBegin, kEnd, {6}, {.beam = 3, .min_length = 6, .nbest = 3}).at(0);
  std::set<std::vector<int64_t>> fed, outputs;
  for (const auto& row : model.state()) fed.insert({row.fed.begin() + 1, row.fed.end()});
  for (const auto& hypothesis : found) outputs.insert(hypothesis.tokens);
  EXPECT_EQ(fed, outputs);
}

TEST(Beam, EqualOnesAreTakenByTheLowerToken) {
  // A vocabulary large enough that topk has a choice among equals.
  const auto found =
      search_one(constant_tables(1, std::vector<float>(300, 0)), 2, {.beam = 3, .min_length = 2, .nbest = 3});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].tokens, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(found[1].tokens, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(found[2].tokens, (std::vector<int64_t>{1, 3}));
}

TEST(Beam, OfEqualOnesBehindABetterOneTheLowestAreTaken) {
  std::vector<float> logits(300, 0);
  logits[0] = -5;
  logits[250] = 1;
  const auto found = search_one(constant_tables(1, logits), 1, {.beam = 3, .nbest = 3});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].tokens, std::vector<int64_t>{250});
  EXPECT_EQ(found[1].tokens, std::vector<int64_t>{1});
  EXPECT_EQ(found[2].tokens, std::vector<int64_t>{2});
}

TEST(Beam, AVocabularySmallerThanTwoBeamsWorks) {
  const auto found = search_one(random_tables(1, 2, 5), 6, {.beam = 10, .nbest = 10});
  EXPECT_EQ(found.size(), 7U);  // 0 to 6 times the one token that isn't the end
  EXPECT_EQ(search_one(constant_tables(1, {0}), 6, {.beam = 2}).at(0).tokens.size(), 0U);
}

TEST(Beam, BeginMayBeTheEndOrNoTokenOfTheOutput) {
  const auto tables = random_tables(1, 5, 6);
  for (int64_t start : {kEnd, int64_t{4}, int64_t{77}}) {
    MarkovModel model(tables);
    const DecodeOptions options{.beam = 125, .nbest = 1};
    auto expected = exhaustive(tables[0], start, kEnd, 3, options);
    expected.resize(1);
    expect_same(beam_search(model, start, kEnd, {3}, options).at(0), expected, 1e-5);
  }
}

TEST(Beam, AnEmptyBatchGivesAnEmptyResult) {
  MarkovModel model(random_tables(0, 4, 1));
  EXPECT_TRUE(beam_search(model, kBegin, kEnd, {}, {}).empty());
  EXPECT_TRUE(model.rows_at_steps().empty());
}

TEST(Beam, OutputThatIsNotANumberIsRefused) {
  const float nan = std::nanf(""), infinity = -never;
  for (const auto& logits : std::vector<std::vector<float>>{
           {0, 1, nan, 0}, {nan, 0, 0, 0}, {0, infinity, 0, 0}, {never, never, never, never}}) {
    try {
      search(constant_tables(2, logits), {4, 4}, {.beam = 2, .min_length = 1});
      FAIL() << "accepted";
    } catch (const std::runtime_error& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("the model's output is not a number")) << e.what();
    }
  }
}

template <typename Call>
std::string mistake(Call call) {
  try {
    call();
  } catch (const InvalidInput& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Beam, MistakesAreNamed) {
  const auto tables = random_tables(2, 4, 1);
  EXPECT_EQ(mistake([&] { search(tables, {3}, {}); }),
            "1 maximum lengths for 2 sentences: there must be one for each");
  EXPECT_EQ(mistake([&] {
              search(tables, {3, -1}, {});
            }),
            "the maximum length of sentence 1 is -1: it must be at least 0");
  EXPECT_EQ(mistake([&] {
              search(tables, {3, 3}, {.beam = 0});
            }),
            "decode.beam is 0: it must be from 1 to 1024");
  MarkovModel stuck(tables, 0), model(tables);
  EXPECT_EQ(mistake([&] {
              beam_search(stuck, kBegin, kEnd, {3, 3}, {});
            }),
            "the model can make no step: its maximum length must be at least 1");
  EXPECT_EQ(mistake([&] {
              beam_search(model, kBegin, 4, {3, 3}, {});
            }),
            "the end token is 4: the model knows tokens 0 to 3");
}

}  // namespace
}  // namespace synthesizer::testing
