// BLEU of many small texts against the numbers of sacreBLEU 2.4.3.

#include <gmock/gmock.h>

#include <array>

#include "metric/bleu.h"
#include "metric/bleu_of.h"
#include "metric/text_cases.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

/// Scores with the tokenizers 13a, none, char, intl.
struct TokenizerScores {
  const char* name;
  std::array<double, 4> as_written, lowercase;
};

class BleuTokenizers : public ::testing::TestWithParam<TokenizerScores> {};

TEST_P(BleuTokenizers, agree_with_sacrebleu) {
  for (int i = 0; i < 4; ++i) {
    BleuOptions options;
    options.tokenizer = static_cast<BleuTokenizer>(i);
    EXPECT_NEAR(bleu_of(GetParam().name, options).score, GetParam().as_written[i], kTolerance)
        << name_of(options.tokenizer);
    options.lowercase = true;
    EXPECT_NEAR(bleu_of(GetParam().name, options).score, GetParam().lowercase[i], kTolerance)
        << name_of(options.tokenizer) << ", lowercase";
  }
}

const TokenizerScores kTokenizerScores[] = {
    {"one_reference",
     {32.5234034304, 32.4667915475, 63.5815634304, 28.8324190065},
     {32.5234034304, 33.4370152488, 63.5815634304, 28.8324190065}},
    {"equal_texts", {100, 100, 100, 100}, {100, 100, 100, 100}},
    {"nothing_in_common", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"empty_hypothesis", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"empty_reference", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"both_empty", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"some_empty_hypotheses",
     {54.4446059661, 54.4446059661, 63.6469128271, 54.4446059661},
     {54.4446059661, 54.4446059661, 63.6469128271, 54.4446059661}},
    {"one_word", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"one_wrong_word", {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"two_words", {0, 0, 60.6530659713, 0}, {0, 0, 60.6530659713, 0}},
    {"repeated_words_are_clipped",
     {7.8098498423, 7.8098498423, 12.2171145371, 7.8098498423},
     {7.8098498423, 7.8098498423, 12.2171145371, 7.8098498423}},
    {"no_four_grams_match",
     {21.3643503198, 21.3643503198, 77.9087272818, 21.3643503198},
     {21.3643503198, 21.3643503198, 77.9087272818, 21.3643503198}},
    {"short_hypothesis",
     {28.650479686, 28.650479686, 25.5729159913, 28.650479686},
     {28.650479686, 28.650479686, 25.5729159913, 28.650479686}},
    {"long_hypothesis",
     {51.6973153957, 51.6973153957, 52.442973158, 51.6973153957},
     {51.6973153957, 51.6973153957, 52.442973158, 51.6973153957}},
    {"three_references",
     {73.5893668162, 73.5893668162, 93.149838376, 73.5893668162},
     {73.5893668162, 73.5893668162, 93.149838376, 73.5893668162}},
    {"closest_length_of_two", {100, 100, 100, 100}, {100, 100, 100, 100}},
    {"closest_length_the_other_way", {100, 100, 100, 100}, {100, 100, 100, 100}},
    {"capitals", {8.11669788688, 8.11669788688, 19.3452990228, 8.11669788688}, {100, 100, 100, 100}},
    {"greek_and_turkish_capitals", {0, 0, 19.571262913, 5.52239778354}, {100, 100, 100, 100}},
    {"numbers",
     {67.8650268159, 61.4788152951, 81.134492579, 68.0374933317},
     {78.6075302152, 80.910671157, 84.3351613393, 84.0896415254}},
    {"currency", {32.6682864093, 6.4790667469, 100, 100}, {32.6682864093, 6.4790667469, 100, 100}},
    {"entities", {100, 0, 10.8279620614, 5.0912128231}, {100, 0, 10.8279620614, 5.0912128231}},
    {"quotes_and_dashes",
     {26.8022012678, 8.20861184646, 77.9072280775, 59.7107098625},
     {26.8022012678, 8.20861184646, 77.9072280775, 59.7107098625}},
    {"chinese", {0, 0, 46.7137977728, 39.7635364384}, {0, 0, 46.7137977728, 39.7635364384}},
    {"emoji",
     {41.1133616901, 30.7394076476, 73.317654592, 52.5381978885},
     {41.1133616901, 30.7394076476, 73.317654592, 52.5381978885}},
    {"trailing_space", {100, 54.7518253507, 100, 54.7518253507}, {100, 54.7518253507, 100, 54.7518253507}},
};
INSTANTIATE_TEST_SUITE_P(Texts, BleuTokenizers, ::testing::ValuesIn(kTokenizerScores), kNameOfCase);

/// Scores with the smoothings exp, floor, add-k, none, floor of 0.5 and add-k of 2.
struct SmoothingScores {
  const char* name;
  std::array<double, 6> all_orders, effective_orders;
};

class BleuSmoothings : public ::testing::TestWithParam<SmoothingScores> {};

TEST_P(BleuSmoothings, agree_with_sacrebleu) {
  const std::pair<BleuSmoothing, std::optional<double>> smoothings[] = {
      {BleuSmoothing::exponential, {}}, {BleuSmoothing::floor, {}},  {BleuSmoothing::add_k, {}},
      {BleuSmoothing::none, {}},        {BleuSmoothing::floor, 0.5}, {BleuSmoothing::add_k, 2}};
  for (int i = 0; i < 6; ++i) {
    BleuOptions options;
    options.smoothing = smoothings[i].first;
    options.smoothing_value = smoothings[i].second;
    EXPECT_NEAR(bleu_of(GetParam().name, options).score, GetParam().all_orders[i], kTolerance) << i;
    options.effective_order = true;
    EXPECT_NEAR(bleu_of(GetParam().name, options).score, GetParam().effective_orders[i], kTolerance) << i;
  }
}

const SmoothingScores kSmoothingScores[] = {
    {"one_reference",
     {32.5234034304, 32.5234034304, 40.4103100935, 32.5234034304, 32.5234034304, 45.9950382258},
     {32.5234034304, 32.5234034304, 40.4103100935, 32.5234034304, 32.5234034304, 45.9950382258}},
    {"equal_texts", {100, 100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100}},
    {"nothing_in_common", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"empty_hypothesis", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"empty_reference", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"both_empty", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"some_empty_hypotheses",
     {54.4446059661, 54.4446059661, 57.5681617979, 54.4446059661, 54.4446059661, 59.5223883443},
     {54.4446059661, 54.4446059661, 57.5681617979, 54.4446059661, 54.4446059661, 59.5223883443}},
    {"one_word", {0, 0, 100, 0, 0, 100}, {100, 100, 100, 100, 100, 100}},
    {"one_wrong_word", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"two_words",
     {0, 0, 60.6530659713, 0, 0, 60.6530659713},
     {60.6530659713, 60.6530659713, 60.6530659713, 60.6530659713, 60.6530659713, 60.6530659713}},
    {"repeated_words_are_clipped",
     {7.8098498423, 3.92814650901, 19.2056126375, 0, 13.1345494721, 28.7190894501},
     {7.8098498423, 3.92814650901, 19.2056126375, 0, 13.1345494721, 28.7190894501}},
    {"no_four_grams_match",
     {21.3643503198, 11.3621936647, 34.5720784642, 0, 25.4066374077, 46.7137977728},
     {21.3643503198, 11.3621936647, 34.5720784642, 0, 25.4066374077, 46.7137977728}},
    {"short_hypothesis",
     {28.650479686, 28.650479686, 28.650479686, 28.650479686, 28.650479686, 28.650479686},
     {28.650479686, 28.650479686, 28.650479686, 28.650479686, 28.650479686, 28.650479686}},
    {"long_hypothesis",
     {51.6973153957, 51.6973153957, 56.234132519, 51.6973153957, 51.6973153957, 59.7288066184},
     {51.6973153957, 51.6973153957, 56.234132519, 51.6973153957, 51.6973153957, 59.7288066184}},
    {"three_references",
     {73.5893668162, 73.5893668162, 76.3876076965, 73.5893668162, 73.5893668162, 78.3612190314},
     {73.5893668162, 73.5893668162, 76.3876076965, 73.5893668162, 73.5893668162, 78.3612190314}},
    {"closest_length_of_two", {100, 100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100}},
    {"closest_length_the_other_way", {100, 100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100}},
    {"capitals",
     {8.11669788688, 4.08248290464, 19.3048697548, 0, 13.6506043135, 28.2279838616},
     {8.11669788688, 4.08248290464, 19.3048697548, 0, 13.6506043135, 28.2279838616}},
    {"greek_and_turkish_capitals", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"numbers",
     {67.8650268159, 67.8650268159, 70.4855911034, 67.8650268159, 67.8650268159, 72.5919523368},
     {67.8650268159, 67.8650268159, 70.4855911034, 67.8650268159, 67.8650268159, 72.5919523368}},
    {"currency",
     {32.6682864093, 32.6682864093, 40.1681509233, 32.6682864093, 32.6682864093, 44.9093579974},
     {32.6682864093, 32.6682864093, 40.1681509233, 32.6682864093, 32.6682864093, 44.9093579974}},
    {"entities", {100, 100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100}},
    {"quotes_and_dashes",
     {26.8022012678, 26.8022012678, 30.4531801444, 26.8022012678, 26.8022012678, 33.1256691911},
     {26.8022012678, 26.8022012678, 30.4531801444, 26.8022012678, 26.8022012678, 33.1256691911}},
    {"chinese", {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
    {"emoji",
     {41.1133616901, 41.1133616901, 50.8698913655, 41.1133616901, 41.1133616901, 57.2124842455},
     {41.1133616901, 41.1133616901, 50.8698913655, 41.1133616901, 41.1133616901, 57.2124842455}},
    {"trailing_space", {100, 100, 100, 100, 100, 100}, {100, 100, 100, 100, 100, 100}},
};
INSTANTIATE_TEST_SUITE_P(Texts, BleuSmoothings, ::testing::ValuesIn(kSmoothingScores), kNameOfCase);

struct Line {
  const char *name, *line;
};

class BleuLine : public ::testing::TestWithParam<Line> {};

TEST_P(BleuLine, is_the_one_sacrebleu_prints) {
  EXPECT_EQ(to_string(bleu_of(GetParam().name)), GetParam().line);
}

const Line kLines[] = {
    {"one_reference",
     "BLEU = 32.52 80.0/46.2/27.3/11.1 (BP = 1.000 ratio = 1.000 hyp_len = 15 ref_len = 15)"},
    {"equal_texts",
     "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 5 ref_len = 5)"},
    {"nothing_in_common", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)"},
    {"empty_hypothesis", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 0.000 ratio = 0.000 hyp_len = 0 ref_len = 4)"},
    {"empty_reference", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 4 ref_len = 0)"},
    {"both_empty", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)"},
    {"some_empty_hypotheses",
     "BLEU = 54.44 83.3/80.0/75.0/66.7 (BP = 0.717 ratio = 0.750 hyp_len = 6 ref_len = 8)"},
    {"one_word", "BLEU = 0.00 100.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)"},
    {"one_wrong_word", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)"},
    {"two_words", "BLEU = 0.00 100.0/100.0/0.0/0.0 (BP = 0.607 ratio = 0.667 hyp_len = 2 ref_len = 3)"},
    {"repeated_words_are_clipped",
     "BLEU = 7.81 28.6/8.3/5.0/3.1 (BP = 1.000 ratio = 1.167 hyp_len = 7 ref_len = 6)"},
    {"no_four_grams_match",
     "BLEU = 21.36 100.0/33.3/10.0/6.2 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)"},
    {"short_hypothesis",
     "BLEU = 28.65 100.0/100.0/100.0/100.0 (BP = 0.287 ratio = 0.444 hyp_len = 4 ref_len = 9)"},
    {"long_hypothesis",
     "BLEU = 51.70 60.0/55.6/50.0/42.9 (BP = 1.000 ratio = 1.667 hyp_len = 10 ref_len = 6)"},
    {"three_references",
     "BLEU = 73.59 100.0/87.5/66.7/75.0 (BP = 0.905 ratio = 0.909 hyp_len = 10 ref_len = 11)"},
    {"closest_length_of_two",
     "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.667 hyp_len = 5 ref_len = 3)"},
    {"closest_length_the_other_way",
     "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.667 hyp_len = 5 ref_len = 3)"},
    {"capitals", "BLEU = 8.12 16.7/10.0/6.2/4.2 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)"},
    {"greek_and_turkish_capitals",
     "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)"},
    {"numbers", "BLEU = 67.87 72.7/70.0/66.7/62.5 (BP = 1.000 ratio = 1.100 hyp_len = 11 ref_len = 10)"},
    {"currency", "BLEU = 32.67 71.4/50.0/40.0/25.0 (BP = 0.751 ratio = 0.778 hyp_len = 7 ref_len = 9)"},
    {"entities", "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 9 ref_len = 9)"},
    {"quotes_and_dashes",
     "BLEU = 26.80 66.7/50.0/42.9/33.3 (BP = 0.574 ratio = 0.643 hyp_len = 9 ref_len = 14)"},
    {"chinese", "BLEU = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 1.000 hyp_len = 1 ref_len = 1)"},
    {"emoji", "BLEU = 41.11 75.0/57.1/33.3/20.0 (BP = 1.000 ratio = 1.143 hyp_len = 8 ref_len = 7)"},
    {"trailing_space",
     "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)"},
};
INSTANTIATE_TEST_SUITE_P(Texts, BleuLine, ::testing::ValuesIn(kLines), kNameOfCase);

TEST(BleuTexts, are_all_known_to_the_tests) {
  EXPECT_EQ(std::size(kTokenizerScores), text_cases().size());
  EXPECT_EQ(std::size(kSmoothingScores), text_cases().size());
  EXPECT_EQ(std::size(kLines), text_cases().size());
}

}  // namespace
}  // namespace synthesizer::testing
