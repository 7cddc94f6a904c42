// When a sentence is done: early stopping, minimum and maximum lengths.

#include <cmath>

#include "decode/beam.h"
#include "decode/greedy.h"
#include "decode/logits.h"
#include "decode/markov_model.h"
#include "decode/search_one.h"

namespace synthesizer::testing {
namespace {

constexpr int64_t unknown = 9;  // no token of the models here: the last row of their tables

/// Logits by the last token: row t is what follows t, the last row what follows begin.
at::Tensor by_last_token(const std::vector<std::vector<float>>& rows) {
  std::vector<at::Tensor> logits;
  for (const auto& row : rows) logits.push_back(at::tensor(at::ArrayRef<float>(row)));
  const auto size = static_cast<int64_t>(rows.size());
  return at::stack(logits).expand({1, size, size, size - 1});
}

TEST(BeamStop, EarlyStoppingEndsAtTheFirstFinishedOnesThatFillTheBeam) {
  const auto tables = constant_tables(1, logs({0.6F, 0.3F, 0.1F}));
  for (int64_t beam : {1, 2, 3}) {
    MarkovModel model(tables);
    const auto found =
        beam_search(model, kBegin, kEnd, {40}, {.beam = beam, .length_penalty = 5, .nbest = beam}).at(0);
    EXPECT_EQ(static_cast<int64_t>(found.size()), beam);
    EXPECT_EQ(static_cast<int64_t>(model.rows_at_steps().size()), beam == 1 ? 1 : 2);
  }
}

TEST(BeamStop, WithoutEarlyStoppingALaterBetterHypothesisWins) {
  // After begin, the end has probability .8; 1 has .15 and then ends nearly for sure: both are finished after
  // two steps. 2 has .05 and then repeats itself nearly for sure: if it ended soon it would be worse than
  // both, at the maximum length it is better.
  const auto tables = by_last_token(
      {{0, 0, 0}, logs({0.98F, 0.01F, 0.01F}), logs({1e-6F, 1e-6F, 1}), logs({0.8F, 0.15F, 0.05F})});
  DecodeOptions options{.beam = 2, .length_penalty = 1};
  MarkovModel early(tables), late(tables);
  const auto hasty = beam_search(early, unknown, kEnd, {99}, options).at(0).at(0);
  options.early_stopping = false;
  const auto patient = beam_search(late, unknown, kEnd, {99}, options).at(0).at(0);
  EXPECT_TRUE(hasty.tokens.empty());
  EXPECT_TRUE(hasty.finished);
  EXPECT_EQ(patient.tokens, std::vector<int64_t>(99, 2));
  EXPECT_FALSE(patient.finished);
  EXPECT_GT(patient.score, hasty.score);
  EXPECT_EQ(early.rows_at_steps().size(), 2U);
  EXPECT_EQ(late.rows_at_steps().size(), 100U);
}

TEST(BeamStop, ByTheRulesOfTransformersOnlyThePresentLengthCounts) {
  // The tables of the test before: what would be better at the maximum length is not waited for.
  const auto tables = by_last_token(
      {{0, 0, 0}, logs({0.98F, 0.01F, 0.01F}), logs({1e-6F, 1e-6F, 1}), logs({0.8F, 0.15F, 0.05F})});
  MarkovModel model(tables);
  const DecodeOptions options{
      .beam = 2, .length_penalty = 1, .early_stopping = false, .transformers_rules = true};
  EXPECT_TRUE(beam_search(model, unknown, kEnd, {99}, options).at(0).at(0).tokens.empty());
  EXPECT_EQ(model.rows_at_steps().size(), 2U);
}

TEST(BeamStop, ByTheRulesOfTransformersTheForcedEndCostsNothing) {
  // No end before the maximum of 3 tokens: 1 again and again with probability .6.
  const auto tables = constant_tables(1, logs({1e-9F, 0.6F, 0.4F}));
  DecodeOptions options{.beam = 2, .length_penalty = 0};
  for (const bool rules : {false, true}) {
    options.transformers_rules = rules;
    MarkovModel model(tables);
    const auto best = beam_search(model, kBegin, kEnd, {3}, options).at(0).at(0);
    EXPECT_EQ(best.tokens, (std::vector<int64_t>{1, 1, 1}));
    EXPECT_NEAR(best.score, 3 * std::log(0.6) + (rules ? 0 : std::log(1e-9)), 1e-4);
  }
}

TEST(BeamStop, ANegativePenaltyIsBoundedByTheShortestContinuation) {
  // The empty output and "1" are finished after two steps. "2 2" is better than "1" if it ends at once, which
  // it does; were its length the maximum, it would be far worse.
  auto tables = constant_tables(1, {0, 0, 0}).clone();
  auto follow = [&](int64_t before, int64_t last, const std::vector<float>& probabilities) {
    tables[0][before][last].copy_(at::tensor(at::ArrayRef<float>(logs(probabilities))));
  };
  const int64_t none = 3;
  follow(none, none, {0.5F, 0.3F, 0.2F});
  follow(none, 1, {0.34F, 0.33F, 0.33F});
  follow(none, 2, {0.005F, 0.005F, 0.99F});
  follow(2, 2, {0.99F, 0.005F, 0.005F});
  DecodeOptions options{.beam = 2, .length_penalty = -0.7, .nbest = 2};
  MarkovModel early(tables), late(tables);
  EXPECT_EQ(beam_search(early, unknown, kEnd, {40}, options).at(0).at(1).tokens, std::vector<int64_t>{1});
  options.early_stopping = false;
  const auto found = beam_search(late, unknown, kEnd, {40}, options).at(0);
  EXPECT_TRUE(found.at(0).tokens.empty());
  EXPECT_EQ(found.at(1).tokens, (std::vector<int64_t>{2, 2}));
}

TEST(BeamStop, WithoutEarlyStoppingStopsWhenNothingBetterCanCome) {
  // Alpha 0: a longer one is never better, so two finished ones suffice as soon as they lead.
  const auto tables = constant_tables(1, logs({0.9F, 0.06F, 0.04F}));
  MarkovModel model(tables);
  beam_search(model, kBegin, kEnd, {50}, {.beam = 2, .length_penalty = 0, .early_stopping = false});
  EXPECT_EQ(model.rows_at_steps().size(), 2U);
}

TEST(BeamStop, TheEndCountsOnlyAmongTheFirstBeamCandidates) {
  // After begin: 1 .5, 2 .3, end .2. With beam 2 the end is third and is not taken.
  const auto tables = constant_tables(1, logs({0.2F, 0.5F, 0.3F}));
  for (const auto& hypothesis : search_one(tables, 4, {.beam = 2, .nbest = 2}))
    EXPECT_FALSE(hypothesis.tokens.empty());
}

TEST(BeamStop, AtTheMaximumLengthTheEndIsForcedWithItsProbability) {
  const auto tables = constant_tables(1, logs({0.1F, 0.9F}));
  const auto best = search_one(tables, 3, {.beam = 1, .length_penalty = 1}).at(0);
  EXPECT_EQ(best.tokens, (std::vector<int64_t>{1, 1, 1}));
  EXPECT_FALSE(best.finished);
  EXPECT_NEAR(best.log_probability, 3 * std::log(0.9) + std::log(0.1), 1e-6);
  EXPECT_NEAR(best.score, best.log_probability / 4, 1e-12);
}

TEST(BeamStop, WithoutAForcedEndAnOutputIsCutAtTheMaximumLength) {
  const auto tables = constant_tables(1, logs({0.1F, 0.9F}));
  for (int64_t beam : {1, 2}) {
    MarkovModel model(tables), greedy(tables);
    const DecodeOptions options{
        .beam = beam, .length_penalty = 1, .early_stopping = false, .forced_end = false};
    const auto best = beam_search(model, kBegin, kEnd, {3}, options).at(0).at(0);
    EXPECT_EQ(best.tokens, (std::vector<int64_t>{1, 1, 1}));
    EXPECT_FALSE(best.finished);
    EXPECT_NEAR(best.log_probability, 3 * std::log(0.9), 1e-6);
    EXPECT_NEAR(best.score, best.log_probability / 3, 1e-12);  // no end is counted
    EXPECT_EQ(model.rows_at_steps().size(), 3U);
    expect_same({best}, greedy_search(greedy, kBegin, kEnd, {3}, options).at(0), 1e-6);
  }
}

TEST(BeamStop, WithoutAForcedEndOneThatEndsInTheLastStepCompetes) {
  // The last of 2 tokens may be the end: "1 end" has the probability .9 · .6, "1 1" .9 · .4.
  auto tables = constant_tables(1, logs({0.1F, 0.9F})).clone();
  tables[0][1][1].copy_(at::tensor(at::ArrayRef<float>(logs({0.6F, 0.4F}))));
  const auto found = search_one(
      tables, 2, {.beam = 2, .length_penalty = 0, .early_stopping = false, .forced_end = false, .nbest = 2});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].tokens, (std::vector<int64_t>{1}));
  EXPECT_TRUE(found[0].finished);
  EXPECT_EQ(found[1].tokens, (std::vector<int64_t>{1, 1}));
  EXPECT_FALSE(found[1].finished);
}

TEST(BeamStop, AMaximumOfZeroGivesTheEmptyOutput) {
  for (const bool forced : {true, false}) {
    const auto best = search_one(random_tables(1, 5, 3), 0, {.beam = 3, .forced_end = forced}).at(0);
    EXPECT_TRUE(best.tokens.empty());
    EXPECT_FALSE(best.finished);
  }
}

TEST(BeamStop, TheSmallestOfTheThreeMaximaHolds) {
  const auto tables = constant_tables(1, {-30, 1, 0});
  auto length = [&](int64_t model_length, int64_t option, int64_t limit) {
    MarkovModel model(tables, model_length);
    return beam_search(model, kBegin, kEnd, {limit}, {.beam = 2, .max_length = option})
        .at(0)
        .at(0)
        .tokens.size();
  };
  EXPECT_EQ(length(100, 0, 7), 7U);
  EXPECT_EQ(length(100, 5, 7), 5U);
  EXPECT_EQ(length(100, 9, 7), 7U);
  EXPECT_EQ(length(4, 0, 7), 3U);  // a step for begin and each token
  EXPECT_EQ(length(1, 0, 7), 0U);
}

TEST(BeamStop, NoOutputIsShorterThanTheMinimum) {
  const auto tables = constant_tables(1, {5, 1, 0, 0.5});
  const auto found = search_one(tables, 8, {.beam = 4, .min_length = 3, .nbest = 4});
  ASSERT_EQ(found.size(), 4U);
  for (const auto& hypothesis : found) EXPECT_GE(hypothesis.tokens.size(), 3U);
  EXPECT_EQ(found[0].tokens, (std::vector<int64_t>{1, 1, 1}));
}

TEST(BeamStop, TheMaximumOfASentenceWinsOverTheMinimum) {
  EXPECT_EQ(search_one(constant_tables(1, {5, 1, 0}), 2, {.min_length = 6}).at(0).tokens.size(), 2U);
}

TEST(BeamStop, EndsBelowTheMinimumWhereNothingElseIsPossible) {
  for (int64_t beam : {1, 3}) {
    const auto found = search_one(constant_tables(1, {0, never, never}), 5, {.beam = beam, .min_length = 2});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].tokens.empty());
    EXPECT_EQ(found[0].log_probability, 0);
  }
}

}  // namespace
}  // namespace synthesizer::testing
