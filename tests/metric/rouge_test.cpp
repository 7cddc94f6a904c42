// ROUGE against the numbers of Google's rouge-score 0.1.2.

#include "metric/rouge.h"

#include <gmock/gmock.h>

#include <array>

#include "metric/text_cases.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

void expect_near(const RougeScore& found, const RougeScore& expected, const std::string& what) {
  EXPECT_NEAR(found.precision, expected.precision, kTolerance) << what << " precision";
  EXPECT_NEAR(found.recall, expected.recall, kTolerance) << what << " recall";
  EXPECT_NEAR(found.f, expected.f, kTolerance) << what << " F";
}

void expect_near(const Rouge& found, const Rouge& expected) {
  expect_near(found.rouge1, expected.rouge1, "ROUGE-1");
  expect_near(found.rouge2, expected.rouge2, "ROUGE-2");
  expect_near(found.rouge_l, expected.rouge_l, "ROUGE-L");
  expect_near(found.rouge_lsum, expected.rouge_lsum, "ROUGE-Lsum");
}

/// Precision, recall and F of each, and the F of each where stems are compared.
struct RougeCase {
  const char* name;
  Rouge scores;
  std::array<double, 4> stems;
};

class RougeTexts : public ::testing::TestWithParam<RougeCase> {};

TEST_P(RougeTexts, agree_with_rouge_score) {
  const TextCase& texts = text_case(GetParam().name);
  expect_near(rouge(texts.hypotheses, texts.references), GetParam().scores);
  const Rouge stems = rouge(texts.hypotheses, texts.references, {.stem = true});
  EXPECT_NEAR(stems.rouge1.f, GetParam().stems[0], kTolerance);
  EXPECT_NEAR(stems.rouge2.f, GetParam().stems[1], kTolerance);
  EXPECT_NEAR(stems.rouge_l.f, GetParam().stems[2], kTolerance);
  EXPECT_NEAR(stems.rouge_lsum.f, GetParam().stems[3], kTolerance);
}

const RougeCase kRougeCases[] = {
    {"one_reference",
     {{77.380952380952, 77.380952380952, 77.380952380952},
      {38.333333333333, 38.333333333333, 38.333333333333},
      {70.238095238095, 70.238095238095, 70.238095238095},
      {70.238095238095, 70.238095238095, 70.238095238095}},
     {77.380952380952, 38.333333333333, 70.238095238095, 70.238095238095}},
    {"equal_texts",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"nothing_in_common",
     {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
     {0.0, 0.0, 0.0, 0.0}},
    {"empty_hypothesis",
     {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
     {0.0, 0.0, 0.0, 0.0}},
    {"empty_reference",
     {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
     {0.0, 0.0, 0.0, 0.0}},
    {"both_empty",
     {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
     {0.0, 0.0, 0.0, 0.0}},
    {"some_empty_hypotheses",
     {{41.666666666667, 41.666666666667, 41.666666666667},
      {40.0, 40.0, 40.0},
      {41.666666666667, 41.666666666667, 41.666666666667},
      {41.666666666667, 41.666666666667, 41.666666666667}},
     {41.666666666667, 40.0, 41.666666666667, 41.666666666667}},
    {"one_word",
     {{100.0, 100.0, 100.0}, {0.0, 0.0, 0.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 0.0, 100.0, 100.0}},
    {"one_wrong_word",
     {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}},
     {0.0, 0.0, 0.0, 0.0}},
    {"two_words",
     {{100.0, 66.666666666667, 80.0},
      {100.0, 50.0, 66.666666666667},
      {100.0, 66.666666666667, 80.0},
      {100.0, 66.666666666667, 80.0}},
     {80.0, 66.666666666667, 80.0, 80.0}},
    {"repeated_words_are_clipped",
     {{28.571428571429, 33.333333333333, 30.769230769231},
      {0.0, 0.0, 0.0},
      {28.571428571429, 33.333333333333, 30.769230769231},
      {28.571428571429, 33.333333333333, 30.769230769231}},
     {30.769230769231, 0.0, 30.769230769231, 30.769230769231}},
    {"no_four_grams_match",
     {{100.0, 100.0, 100.0},
      {33.333333333333, 33.333333333333, 33.333333333333},
      {71.428571428571, 71.428571428571, 71.428571428571},
      {71.428571428571, 71.428571428571, 71.428571428571}},
     {100.0, 33.333333333333, 71.428571428571, 71.428571428571}},
    {"short_hypothesis",
     {{100.0, 44.444444444444, 61.538461538462},
      {100.0, 37.5, 54.545454545455},
      {100.0, 44.444444444444, 61.538461538462},
      {100.0, 44.444444444444, 61.538461538462}},
     {61.538461538462, 54.545454545455, 61.538461538462, 61.538461538462}},
    {"long_hypothesis",
     {{60.0, 100.0, 75.0},
      {55.555555555556, 100.0, 71.428571428571},
      {60.0, 100.0, 75.0},
      {60.0, 100.0, 75.0}},
     {75.0, 71.428571428571, 75.0, 75.0}},
    {"three_references",
     {{75.0, 66.666666666667, 70.238095238095},
      {65.0, 56.666666666667, 60.0},
      {75.0, 66.666666666667, 70.238095238095},
      {75.0, 66.666666666667, 70.238095238095}},
     {84.52380952381, 60.0, 84.52380952381, 84.52380952381}},
    {"closest_length_of_two",
     {{100.0, 71.428571428571, 83.333333333333},
      {100.0, 66.666666666667, 80.0},
      {100.0, 71.428571428571, 83.333333333333},
      {100.0, 71.428571428571, 83.333333333333}},
     {83.333333333333, 80.0, 83.333333333333, 83.333333333333}},
    {"closest_length_the_other_way",
     {{100.0, 71.428571428571, 83.333333333333},
      {100.0, 66.666666666667, 80.0},
      {100.0, 71.428571428571, 83.333333333333},
      {100.0, 71.428571428571, 83.333333333333}},
     {83.333333333333, 80.0, 83.333333333333, 83.333333333333}},
    {"capitals",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"greek_and_turkish_capitals",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"numbers",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"currency",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"entities",
     {{44.444444444444, 100.0, 61.538461538462},
      {0.0, 0.0, 0.0},
      {44.444444444444, 100.0, 61.538461538462},
      {44.444444444444, 100.0, 61.538461538462}},
     {61.538461538462, 0.0, 61.538461538462, 61.538461538462}},
    {"quotes_and_dashes",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
    {"chinese", {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, {0.0, 0.0, 0.0, 0.0}},
    {"emoji",
     {{60.0, 75.0, 66.666666666667},
      {25.0, 33.333333333333, 28.571428571429},
      {60.0, 75.0, 66.666666666667},
      {60.0, 75.0, 66.666666666667}},
     {66.666666666667, 28.571428571429, 66.666666666667, 66.666666666667}},
    {"trailing_space",
     {{100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}, {100.0, 100.0, 100.0}},
     {100.0, 100.0, 100.0, 100.0}},
};
INSTANTIATE_TEST_SUITE_P(Texts, RougeTexts, ::testing::ValuesIn(kRougeCases), kNameOfCase);

TEST(Rouge, texts_are_all_known_to_the_tests) {
  EXPECT_EQ(std::size(kRougeCases), text_cases().size());
}

TEST(Rouge, compares_stems_of_words_longer_than_three_characters) {
  const Segments text = {"The runners were happily running past relational databases."};
  const References reference = {{"A runner runs happily, relating to a database."}};
  expect_near(rouge(text, reference),
              {{12.5, 12.5, 12.5}, {0.0, 0.0, 0.0}, {12.5, 12.5, 12.5}, {12.5, 12.5, 12.5}});
  expect_near(rouge(text, reference, {.stem = true}),
              {{62.5, 62.5, 62.5}, {0.0, 0.0, 0.0}, {50.0, 50.0, 50.0}, {50.0, 50.0, 50.0}});
}

// Where rouge-score was given line ends.
TEST(Rouge, parts_sentences_at_n) {
  expect_near(
      rouge({"the police killed the gunman . <n> the gunman was found in the house <n> he had lived alone"},
            {{"police found the gunman in a house <n> the gunman who lived alone was killed by the police"}}),
      {{81.25, 76.470588235294, 78.787878787879},
       {26.666666666667, 25.0, 25.806451612903},
       {43.75, 41.176470588235, 42.424242424242},
       {75.0, 70.588235294118, 72.727272727273}});
  expect_near(rouge({"a b c <n> d e f a <n> c b", "w x y z"}, {{"c b a d <n> e f <n> a a b", "z y <n> x w"}}),
              {{94.444444444444, 94.444444444444, 94.444444444444},
               {31.25, 31.25, 31.25},
               {45.833333333333, 45.833333333333, 45.833333333333},
               {63.888888888889, 63.888888888889, 63.888888888889}});
}

TEST(Rouge, n_is_a_word_of_no_text) {
  expect_near(rouge({"<n> a b <n>"}, {{"a b"}}), rouge({"a b"}, {{"a b"}}));
  EXPECT_EQ(rouge({"a <n> n"}, {{"n"}}).rouge1.precision, 50);
}

TEST(Rouge, takes_the_best_reference_for_each_score) {
  expect_near(rouge({"the cat sat on the mat today", "x y z"},
                    {{"a cat sat on a mat", "x y"}, {"the mat was sat on by the cat today", "z y x w"}}),
              {{100.0, 76.388888888889, 86.607142857143},
               {50.0, 68.75, 54.761904761905},
               {69.047619047619, 77.777777777778, 71.25},
               {69.047619047619, 77.777777777778, 71.25}});
}

TEST(Rouge, of_a_corpus_is_the_mean_of_its_segments) {
  const auto segments = segment_rouge({"a b", "c d"}, {{"a b", "d"}});
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0].rouge1.f, 100);
  EXPECT_NEAR(rouge({"a b", "c d"}, {{"a b", "d"}}).rouge1.f, (100 + segments[1].rouge1.f) / 2, kTolerance);
}

}  // namespace
}  // namespace synthesizer::testing
