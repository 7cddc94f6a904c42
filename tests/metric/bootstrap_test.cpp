// Resampled scores beside the plain metric, and the bootstrap by itself. Beside sacreBLEU:
// bootstrap_sacrebleu_test.cpp.

#include "metric/bootstrap.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "metric/bootstrap_cases.h"
#include "metric/classify.h"
#include "metric/registry.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ResampledScore one_of(const std::string& metric, const Segments& hypotheses, const Segments& references,
                      const std::string& key = "", const MetricOptions& options = {}) {
  for (const auto& [name, score] : resampled(find_metric(metric), hypotheses, {references}, options)) {
    if (key.empty() || name == key) return score;
  }
  throw std::out_of_range(key);
}

std::vector<uint32_t> all_of(const ResampledScore& score) {
  std::vector<uint32_t> all(score->segments());
  std::iota(all.begin(), all.end(), uint32_t{0});
  return all;
}

// Of all segments once: registry_test.cpp, for every metric.
class ResampledMetric : public ::testing::TestWithParam<const char*> {};

TEST_P(ResampledMetric, of_a_part_is_the_score_of_that_part) {
  const Metric& metric = find_metric(GetParam());
  const std::vector<uint32_t> part = {3, 3, 7, 20, 1, 7, 7};
  Segments hypotheses, references;
  for (const uint32_t i : part) {
    hypotheses.push_back(kSecond[i]);
    references.push_back(kReferences[i]);
  }
  const auto expected = score(metric, hypotheses, {references});
  for (const auto& [key, resample] : resampled(metric, kSecond, {kReferences})) {
    if (key == "cider") continue;  // its document frequencies are those of all segments
    for (const auto& [name, value] : expected.values) {
      if (name != key) continue;
      EXPECT_NEAR(resample->score(part), std::get<double>(value), kTolerance) << key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Bootstrap, ResampledMetric,
                         ::testing::Values("bleu", "chrf", "rouge", "caption", "classify"),
                         [](const auto& info) { return std::string(info.param); });

/// Labels a, b, c; every seventh is wrong.
Segments labels(size_t count, size_t wrong_every) {
  Segments lines;
  for (size_t i = 0; i < count; ++i)
    lines.push_back(std::string(1, static_cast<char>('a' + (i % wrong_every == 1 ? i + 1 : i) % 3)));
  return lines;
}

TEST(Bootstrap, of_labels_scores_the_labels_that_a_resample_has) {
  const Segments gold = labels(30, 1000), predicted = labels(30, 7);
  const std::vector<uint32_t> part = {0, 3, 3, 1, 4, 8, 15};
  Segments gold_part, predicted_part;
  for (const uint32_t i : part) {
    gold_part.push_back(gold[i]);
    predicted_part.push_back(predicted[i]);
  }
  EXPECT_NEAR(one_of("classify", predicted, gold, "accuracy")->score(part),
              accuracy(predicted_part, gold_part), kTolerance);
  EXPECT_NEAR(one_of("classify", predicted, gold, "macro_f1")->score(part),
              macro_f1(predicted_part, gold_part), kTolerance);
  EXPECT_NEAR(one_of("classify", predicted, gold, "matthews")->score(part),
              matthews(predicted_part, gold_part), kTolerance);
}

TEST(Bootstrap, of_one_label_has_its_f1) {
  const Segments gold = labels(30, 1000), predicted = labels(30, 7);
  const auto f1 = one_of("classify", predicted, gold, "f1", {{"positive", "b"}});
  EXPECT_NEAR(f1->score(all_of(f1)), f1_binary(predicted, gold, "b"), kTolerance);
  EXPECT_THROW(one_of("classify", predicted, gold, "f1", {{"positive", "z"}}), InvalidInput);
}

TEST(Bootstrap, of_an_accuracy_is_as_wide_as_a_proportion_varies) {
  const size_t count = 2000;
  const auto result = bootstrap(one_of("classify", labels(count, 4), labels(count, 100000), "accuracy"));
  const double share = result.score / 100;
  EXPECT_NEAR(result.half_width(), 100 * 1.96 * std::sqrt(share * (1 - share) / count), 0.2);
  EXPECT_NEAR(result.mean, result.score, 0.2);
}

TEST(Bootstrap, weighs_texts_by_their_tokens_in_a_loss) {
  std::vector<Likelihood> texts(3);
  texts[0].nll = 10, texts[0].tokens = 10;
  texts[1].nll = 90, texts[1].tokens = 30;
  texts[2].nll = 4, texts[2].tokens = 1;
  const auto loss = resampled_likelihood(texts, &Likelihood::loss);
  EXPECT_DOUBLE_EQ(loss->score(std::vector<uint32_t>{0, 1}), 2.5);
  EXPECT_DOUBLE_EQ(loss->score(std::vector<uint32_t>{2, 2, 0}), 1.5);
  const auto perplexity = resampled_likelihood(texts, &Likelihood::perplexity);
  EXPECT_DOUBLE_EQ(perplexity->score(std::vector<uint32_t>{2}), std::exp(4));
}

TEST(Bootstrap, of_correlations_takes_a_resample_of_equals_for_no_order) {
  const auto pearson = one_of("regress", {"1", "2", "3", "5"}, {"2", "1", "4", "4"}, "pearson");
  EXPECT_EQ(pearson->score(std::vector<uint32_t>{1, 1, 1}), 0);
  EXPECT_NEAR(pearson->score(std::vector<uint32_t>{0, 1, 1}), -100, kTolerance);
}

TEST(Bootstrap, depends_on_the_seed_alone) {
  const auto system = one_of("bleu", kFirst, kReferences);
  const auto one = bootstrap(system, {200, 7}), again = bootstrap(system, {200, 7});
  const auto other = bootstrap(system, {200, 8});
  EXPECT_EQ(one.mean, again.mean);
  EXPECT_EQ(one.low, again.low);
  EXPECT_EQ(one.high, again.high);
  EXPECT_NE(one.mean, other.mean);
}

TEST(Bootstrap, draws_every_segment_alike) {
  std::vector<uint32_t> drawn(10), times(10);
  const Draw draw = random_draws(3);
  for (int i = 0; i < 10000; ++i) {
    draw(drawn);
    for (const uint32_t segment : drawn) ++times.at(segment);
  }
  for (const uint32_t count : times) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

TEST(Bootstrap, finds_no_difference_of_a_system_to_itself) {
  const auto system = one_of("bleu", kFirst, kReferences);
  // (sacreBLEU gives the smallest p there is here: no difference is larger than none.)
  const auto same = paired_bootstrap({system, system});
  EXPECT_EQ(same[1].score, same[0].score);
  EXPECT_EQ(same[1].p_value, 1);
}

TEST(Bootstrap, finds_a_large_difference_and_doubts_a_small_one) {
  const Segments gold = labels(300, 100000);
  const auto good = one_of("classify", labels(300, 10), gold, "accuracy");
  const auto bad = one_of("classify", labels(300, 2), gold, "accuracy");
  Segments nearly = labels(300, 10);
  nearly[0] = "c";
  nearly[1] = gold[1];
  nearly[3] = "c";
  const auto results = paired_bootstrap({good, bad, one_of("classify", nearly, gold, "accuracy")});
  EXPECT_LT(results[1].p_value.value(), 0.01);
  EXPECT_GT(results[2].p_value.value(), 0.05);
}

TEST(Bootstrap, of_one_segment_has_an_interval_of_no_width) {
  const auto result = bootstrap(resampled_mean(std::vector<double>{42}));
  EXPECT_EQ(result.score, 42);
  EXPECT_EQ(result.half_width(), 0);
}

TEST(Bootstrap, of_equal_scores_shows_no_difference) {
  // One word per line: BLEU is 0 for both, in every resample. Nothing is less significant.
  const auto first = one_of("bleu", {"eins", "zwei"}, {"eins", "zwei"}, "bleu");
  const auto second = one_of("bleu", {"eins", "drei"}, {"eins", "zwei"}, "bleu");
  const auto results = paired_bootstrap({first, second, first});
  EXPECT_EQ(results[0].score, 0);
  EXPECT_EQ(results[1].p_value.value(), 1);
  EXPECT_EQ(results[2].p_value.value(), 1);
}

TEST(Bootstrap, refuses_systems_of_different_segments) {
  const auto two = resampled_mean(std::vector<double>{1, 2}),
             three = resampled_mean(std::vector<double>{1, 2, 3});
  EXPECT_THAT(
      [&] {
        paired_bootstrap({two, two, three});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("system 1 has 2 segments and system 3 has 3")));
  EXPECT_THAT([&] { bootstrap(resampled_mean(std::vector<double>{})); },
              ThrowsMessage<InvalidInput>(HasSubstr("nothing to resample")));
  EXPECT_THAT([&] { bootstrap(two, {0, 1}); }, ThrowsMessage<InvalidInput>(HasSubstr("0 resamples")));
}

TEST(Bootstrap, checks_options_and_texts_as_scoring_does) {
  const Metric& bleu = find_metric("bleu");
  EXPECT_THROW(resampled(bleu, {"a"}, {{"a", "b"}}), InvalidInput);
  EXPECT_THROW(resampled(bleu, {"a"}, {{"a"}}, {{"tokenise", "13a"}}), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
