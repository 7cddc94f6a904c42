// The list of metrics, and how options reach them.

#include "metric/registry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "metric/bleu.h"
#include "metric/chrf.h"
#include "metric/resampled.h"
#include "metric/small_wordnet.h"
#include "metric/text_cases.h"

namespace synthesizer::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// What a metric needs that cannot do with any text, and what it gives to a text that is its own reference.
struct Sample {
  Segments texts = {"the quick brown fox jumps over a lazy dog", "one two three four five"};
  MetricOptions options;
  double perfect = 100;
};

class MetricSamples : public SmallWordNet {
 protected:
  Sample sample(const std::string& metric) const {
    Sample sample;
    if (metric == "caption") sample.perfect = 1000;
    if (metric == "embedding") sample.options["vectors"] = write("vectors", "the 1 2\nquick 3 -1\none 2 2\n");
    if (metric == "regress") sample.texts = {"1.5", "2.5", "-3"};
    if (metric == "meteor") {
      sample.options["wordnet"] = folder_.string();
      sample.perfect = 100 - 50 * (std::pow(9, -3) + std::pow(5, -3)) / 2;  // even one run is a fragment
    }
    return sample;
  }
};

MetricResult run(const std::string& metric, const std::string& texts, const MetricOptions& options = {}) {
  return score(find_metric(metric), text_case(texts).hypotheses, text_case(texts).references, options);
}

template <class T>
T value(const MetricResult& result, const std::string& key) {
  for (const auto& [name, value] : result.values) {
    if (name == key) return std::get<T>(value);
  }
  throw std::out_of_range("no value " + key);
}

template <class Matcher>
void expect_options_refused(const std::string& metric, const MetricOptions& options, const Matcher& message) {
  EXPECT_THAT([&] { run(metric, "one_reference", options); }, ThrowsMessage<InvalidInput>(message));
}

TEST_F(MetricSamples, have_names_help_and_a_headline_among_their_values) {
  std::set<std::string> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name << " is there twice";
    EXPECT_FALSE(metric.help.empty()) << metric.name;
    const Sample own = sample(metric.name);
    const MetricResult result = score(metric, own.texts, {own.texts}, own.options);
    EXPECT_NEAR(value<double>(result, metric.headline), own.perfect, 1e-9) << metric.name;
    EXPECT_FALSE(result.text.empty() || result.text.ends_with('\n')) << metric.name;
  }
}

TEST_F(MetricSamples, score_all_segments_drawn_once_as_the_corpus) {
  for (const Metric& metric : metrics()) {
    const Sample own = sample(metric.name);
    Segments others = own.texts;
    std::rotate(others.begin(), others.begin() + 1, others.end());
    if (metric.name != "regress") others[0] += " " + own.texts[0];
    const MetricResult expected = score(metric, others, {own.texts}, own.options);
    const ResampledScores found = resampled(metric, others, {own.texts}, own.options);
    std::vector<uint32_t> all(others.size());
    std::iota(all.begin(), all.end(), uint32_t{0});
    EXPECT_FALSE(found.empty()) << metric.name;
    for (const auto& [key, resample] : found) {
      EXPECT_EQ(resample->segments(), all.size());
      EXPECT_NEAR(resample->score(all), value<double>(expected, key), 1e-9) << metric.name << " " << key;
    }
  }
}

TEST_F(MetricSamples, have_options_whose_own_defaults_they_take) {
  for (const Metric& metric : metrics()) {
    const Sample own = sample(metric.name);
    const MetricResult expected = score(metric, own.texts, {own.texts}, own.options);
    for (const MetricOption& option : metric.options) {
      EXPECT_FALSE(option.help.empty()) << metric.name << " " << option.name;
      MetricOptions options = own.options;
      options.emplace(option.name, option.fallback);
      if (options.at(option.name).empty()) continue;
      EXPECT_EQ(score(metric, own.texts, {own.texts}, options).values, expected.values)
          << metric.name << " " << option.name;
    }
  }
}

TEST(Metrics, are_found_by_name) {
  EXPECT_EQ(find_metric("bleu").name, "bleu");
  EXPECT_EQ(find_metric("chrF").name, "chrf");
  EXPECT_THAT([] { find_metric("belu"); },
              ThrowsMessage<InvalidInput>(
                  AllOf(HasSubstr("no metric 'belu', did you mean 'bleu'?"), HasSubstr("chrf"))));
}

TEST(BleuMetric, gives_what_the_library_gives) {
  const TextCase& texts = text_case("three_references");
  const Bleu expected = bleu(texts.hypotheses, texts.references);
  const MetricResult result = run("bleu", "three_references");
  EXPECT_EQ(value<double>(result, "bleu"), expected.score);
  EXPECT_EQ(value<double>(result, "bp"), expected.brevity_penalty);
  EXPECT_EQ(value<double>(result, "ratio"), expected.ratio);
  EXPECT_EQ(value<int64_t>(result, "hyp_len"), 10);
  EXPECT_EQ(value<int64_t>(result, "ref_len"), 11);
  EXPECT_EQ(value<std::vector<double>>(result, "precisions").size(), 4u);
  EXPECT_EQ(value<std::vector<int64_t>>(result, "totals"), (std::vector<int64_t>{10, 8, 6, 4}));
  EXPECT_EQ(value<std::string>(result, "signature"),
            "nrefs:3|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.3");
  EXPECT_EQ(result.text,
            "BLEU = 73.59 100.0/87.5/66.7/75.0 (BP = 0.905 ratio = 0.909 hyp_len = 10 ref_len = 11)\n"
            "nrefs:3|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.3");
}

TEST(BleuMetric, takes_its_options) {
  const MetricResult result = run("bleu", "capitals",
                                  {{"tokenize", "intl"},
                                   {"lowercase", "true"},
                                   {"smooth", "floor"},
                                   {"smooth-value", "0.25"},
                                   {"effective-order", "true"}});
  EXPECT_EQ(value<std::string>(result, "signature"),
            "nrefs:1|case:lc|eff:yes|tok:intl|smooth:floor[0.25]|version:2.4.3");
  EXPECT_NEAR(value<double>(result, "bleu"), 100, 1e-9);
}

TEST(ChrfMetric, takes_its_options) {
  const MetricResult plain = run("chrf", "capitals");
  EXPECT_EQ(plain.text, "chrF2 = 16.46\nnrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.4.3");
  const MetricResult result = run("chrf", "capitals",
                                  {{"word-order", "2"},
                                   {"char-order", "5"},
                                   {"beta", "3"},
                                   {"lowercase", "true"},
                                   {"whitespace", "true"}});
  EXPECT_EQ(result.text, "chrF3++ = 100.00\nnrefs:1|case:lc|eff:yes|nc:5|nw:2|space:yes|version:2.4.3");
  EXPECT_NEAR(value<double>(result, "chrf"), 100, 1e-9);
}

TEST(MetricOptions, a_metric_does_not_take_are_refused) {
  expect_options_refused("chrf", {{"tokenize", "13a"}},
                         AllOf(HasSubstr("metric chrf takes no option tokenize"), HasSubstr("word-order")));
  expect_options_refused("bleu", {{"tokenise", "13a"}}, HasSubstr("did you mean 'tokenize'?"));
}

TEST(MetricOptions, with_values_nobody_knows_are_refused) {
  expect_options_refused("bleu", {{"tokenize", "13"}},
                         HasSubstr("option tokenize is '13', did you mean '13a'?"));
  expect_options_refused("bleu", {{"lowercase", "yes"}},
                         HasSubstr("option lowercase is 'yes': it is true or false"));
  expect_options_refused("bleu", {{"smooth", "floor"}, {"smooth-value", "much"}},
                         HasSubstr("smooth-value is 'much'"));
  expect_options_refused("bleu", {{"smooth", "floor"}, {"smooth-value", "-1"}},
                         HasSubstr("smooth-value is '-1'"));
  expect_options_refused("bleu", {{"smooth", "floor"}, {"smooth-value", "inf"}},
                         HasSubstr("smooth-value is 'inf'"));
  expect_options_refused("bleu", {{"smooth-value", "1"}}, HasSubstr("smooth is exp"));
  expect_options_refused("chrf", {{"word-order", "two"}},
                         HasSubstr("word-order is 'two': it is a whole number"));
  expect_options_refused("chrf", {{"word-order", "2x"}}, HasSubstr("word-order is '2x'"));
  expect_options_refused("chrf", {{"word-order", "-1"}}, HasSubstr("word-order is '-1'"));
  expect_options_refused("chrf", {{"char-order", "0"}}, HasSubstr("from 1 to 20"));
}

TEST(Metrics, refuse_texts_that_do_not_fit) {
  for (const Metric& metric : metrics()) {
    EXPECT_THAT([&] { score(metric, {}, {{}}); }, ThrowsMessage<InvalidInput>(HasSubstr("no hypotheses")));
    EXPECT_THAT(
        [&] {
          score(metric, {"a", "b"}, {{"a"}});
        },
        ThrowsMessage<InvalidInput>(HasSubstr("2 hypotheses but 1 segments in reference 1")));
  }
}

}  // namespace
}  // namespace synthesizer::testing
