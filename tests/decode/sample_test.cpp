// Sampling goes through prompts and texts step by step, each row with its own random numbers.

#include "decode/sample.h"

#include <cmath>
#include <map>

#include "base/error.h"
#include "decode/logits.h"
#include "decode/markov_model.h"

namespace synthesizer::testing {
namespace {

std::vector<std::vector<int64_t>> sampled(const at::Tensor& tables,
                                          const std::vector<std::vector<int64_t>>& prompts, int64_t tokens,
                                          const DecodeOptions& options, int64_t end = -1) {
  MarkovModel model(tables, 100000);
  return sample(model, prompts, tokens, end, options);
}

TEST(Sample, FollowsTheModelStepByStep) {
  // What follows each token in one long text has the model's shares.
  const int64_t vocabulary = 3;
  at::manual_seed(1);
  const auto by_last = at::randn({vocabulary + 1, vocabulary});
  const auto tables = by_last.expand({1, vocabulary + 1, vocabulary + 1, vocabulary});
  const auto text = sampled(tables, {{0}}, 6000, {}).at(0);
  ASSERT_EQ(text.size(), 6000U);
  std::map<std::pair<int64_t, int64_t>, int> pairs;
  std::map<int64_t, int> firsts;
  for (size_t n = 1; n < text.size(); ++n) ++pairs[{text[n - 1], text[n]}], ++firsts[text[n - 1]];
  const auto share = by_last.softmax(1);
  for (int64_t a = 0; a < vocabulary; ++a) {
    for (int64_t b = 0; b < vocabulary; ++b) {
      const double p = share[a][b].item<double>(), count = firsts[a];
      EXPECT_NEAR(pairs[std::pair(a, b)] / count, p, 5 * std::sqrt(p * (1 - p) / count)) << a << " " << b;
    }
  }
}

TEST(Sample, TemperatureZeroTakesTheMostLikelyAfterThePrompt) {
  const auto tables = random_tables(1, 6, 3);
  const auto text = sampled(tables, {{4, 2}}, 8, {.temperature = 0}).at(0);
  std::vector<int64_t> expected{4, 2};
  for (int n = 0; n < 8; ++n) {
    expected.push_back(tables[0][expected[expected.size() - 2]][expected.back()].argmax().item<int64_t>());
  }
  EXPECT_EQ(text, std::vector<int64_t>(expected.begin() + 2, expected.end()));
}

TEST(Sample, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto tables = random_tables(2, 8, 5);
  const std::vector<std::vector<int64_t>> prompts{{1}, {2, 3}};
  const auto text = sampled(tables, prompts, 40, {.seed = 9});
  EXPECT_EQ(text, sampled(tables, prompts, 40, {.seed = 9}));
  EXPECT_NE(text, sampled(tables, prompts, 40, {.seed = 10}));
}

TEST(Sample, RowsOfOneModelDrawDifferently) {
  const auto text = sampled(constant_tables(2, {0, 0, 0, 0}), {{1}, {1}}, 40, {});
  EXPECT_NE(text[0], text[1]);
}

TEST(Sample, ARowDoesNotDependOnItsMates) {
  const auto tables = random_tables(4, 6, 8);
  const std::vector<std::vector<int64_t>> prompts{{1, 2, 3}, {4}, {5, 5, 5, 5, 5, 5, 5}, {2, 2}};
  const DecodeOptions options{.temperature = 1.3, .top_k = 5, .top_p = 0.95, .seed = 4};
  const auto together = sampled(tables, prompts, 30, options, 0);
  // The first n rows alone, and the same rows among mates that are fed something else.
  for (int64_t count = 1; count < 4; ++count) {
    const auto few =
        sampled(tables.slice(0, 0, count), {prompts.begin(), prompts.begin() + count}, 30, options, 0);
    EXPECT_EQ(few, std::vector(together.begin(), together.begin() + count));
  }
  auto others = prompts;
  others[0] = {3};
  others[2] = {1, 1};
  const auto changed = sampled(tables, others, 30, options, 0);
  EXPECT_EQ(changed[1], together[1]);
  EXPECT_EQ(changed[3], together[3]);
}

TEST(Sample, EndsAtTheEndAndDropsTheRow) {
  // Token 0 is the end, and follows 1 for sure.
  auto tables = constant_tables(2, {never, 0, never}).clone();
  tables.select(0, 0).select(1, 1).copy_(at::tensor(at::ArrayRef<float>({0, never, never})));
  MarkovModel model(tables);
  const auto text = sample(model, {{2}, {2}}, 5, 0, {});
  EXPECT_EQ(text[0], std::vector<int64_t>{1});
  EXPECT_EQ(text[1], (std::vector<int64_t>{1, 1, 1, 1, 1}));
  EXPECT_EQ(model.rows_at_steps(), (std::vector<int64_t>{2, 2, 1, 1, 1}));
  EXPECT_EQ(model.state().at(0).sentence, 1);
}

TEST(Sample, WithoutAnEndEveryTokenIsText) {
  EXPECT_EQ(sampled(constant_tables(1, {0, never}), {{1}}, 4, {}, -1).at(0),
            (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_TRUE(sampled(constant_tables(1, {0, never}), {{1}}, 4, {}, 0).at(0).empty());
}

TEST(Sample, LengthsAreHeld) {
  const auto likely_end = constant_tables(1, {9, 0, 0});
  EXPECT_EQ(sampled(likely_end, {{1}}, 9, {.min_length = 3, .temperature = 0}, 0).at(0).size(), 3U);
  EXPECT_EQ(sampled(likely_end, {{1}}, 9, {.max_length = 2}).at(0).size(), 2U);
  EXPECT_EQ(sampled(likely_end, {{1}}, 9, {.max_length = 20}).at(0).size(), 9U);
  MarkovModel idle(likely_end);
  EXPECT_TRUE(sample(idle, {{1}}, 0, -1, {}).at(0).empty());
  EXPECT_TRUE(idle.rows_at_steps().empty());
}

TEST(Sample, GoesOnAsFarAsTheModelCan) {
  MarkovModel model(constant_tables(2, {0, 0}), 5);
  const auto text = sample(model, {{1, 1, 1}, {1, 1, 1, 1, 1}}, 10, -1, {});
  EXPECT_EQ(text[0].size(), 3U);  // the last one drawn is not fed
  EXPECT_EQ(text[1].size(), 1U);
}

TEST(Sample, TellsEachTokenAsItIsDrawn) {
  MarkovModel model(random_tables(2, 5, 2));
  std::vector<std::vector<int64_t>> told(2);
  const auto text = sample(model, {{1}, {3, 4, 2}}, 12, 0, {},
                           [&](int64_t row, int64_t token) { told.at(row).push_back(token); });
  EXPECT_EQ(told, text);
}

TEST(Sample, AnEmptyBatchGivesAnEmptyResult) {
  EXPECT_TRUE(sampled(random_tables(0, 3, 1), {}, 4, {}).empty());
}

TEST(Sample, OutputThatIsNotANumberIsRefused) {
  for (const auto& logits :
       std::vector<std::vector<float>>{{0, std::nanf("")}, {-never, 0}, {never, never}}) {
    for (double temperature : {0., 1.}) {
      try {
        sampled(constant_tables(1, logits), {{1}}, 3, {.temperature = temperature});
        FAIL() << "accepted";
      } catch (const std::runtime_error& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("the model's output is not a number")) << e.what();
      }
    }
  }
}

TEST(Sample, MistakesAreNamed) {
  const auto tables = random_tables(2, 3, 1);
  auto mistake = [&](const std::vector<std::vector<int64_t>>& prompts, int64_t tokens,
                     DecodeOptions options) {
    MarkovModel model(tables, 4);
    try {
      sample(model, prompts, tokens, -1, options);
    } catch (const InvalidInput& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(mistake({{1}}, 3, {}), "1 prompts for 2 rows: there must be one for each");
  EXPECT_EQ(mistake({{1}, {}}, 3, {}), "prompt 1 is empty: give it at least one token");
  EXPECT_EQ(mistake({{1, 1, 1, 1, 1}, {1}}, 3, {}), "prompt 0 has 5 tokens: the model takes at most 4");
  EXPECT_EQ(mistake({{1}, {1}}, -3, {}), "the number of tokens is -3: it must be at least 0");
  EXPECT_EQ(mistake({{1}, {1}}, 3, {.top_p = 2}), "decode.top_p is 2: it must be between 0 and 1");
}

}  // namespace
}  // namespace synthesizer::testing
