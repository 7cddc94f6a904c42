// chrF against the numbers of sacreBLEU 2.4.3.

#include "metric/chrf.h"

#include <gmock/gmock.h>

#include <array>

#include "base/error.h"
#include "metric/text_cases.h"
#include "metric/tolerance.h"

namespace synthesizer::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Character order, word order, beta, lowercase, whitespace, eps smoothing.
const ChrfOptions kOptions[] = {
    {},
    {6, 2},
    {6, 0, 2, true},
    {6, 2, 2, true},
    {6, 0, 2, false, true},
    {3, 1, 1},
    {6, 0, 2, false, false, true},
    {6, 2, 2, false, false, true},
};

struct ChrfScores {
  const char* name;
  std::array<double, std::size(kOptions)> scores;
};

class Chrf : public ::testing::TestWithParam<ChrfScores> {};

TEST_P(Chrf, agrees_with_sacrebleu) {
  const TextCase& texts = text_case(GetParam().name);
  for (size_t i = 0; i < std::size(kOptions); ++i) {
    EXPECT_NEAR(chrf(texts.hypotheses, texts.references, kOptions[i]), GetParam().scores[i], kTolerance)
        << chrf_signature(kOptions[i], texts.references.size());
  }
}

const ChrfScores kChrfScores[] = {
    {"one_reference",
     {59.4588808448, 60.3721398619, 59.4588808448, 60.3721398619, 67.6305453496, 74.9437860635, 59.4582372899,
      60.3629087366}},
    {"equal_texts", {100, 100, 100, 100, 100, 100, 100, 100}},
    {"nothing_in_common", {0, 0, 0, 0, 7.14285714286, 0, 1e-14, 1e-14}},
    {"empty_hypothesis", {0, 0, 0, 0, 0, 0, 3.33333333333e-15, 2.5e-15}},
    {"empty_reference", {0, 0, 0, 0, 0, 0, 1e-14, 1e-14}},
    {"both_empty", {0, 0, 0, 0, 0, 0, 1e-14, 1e-14}},
    {"some_empty_hypotheses",
     {73.1541519109, 71.7533722874, 73.1541519109, 71.7533722874, 77.2503202015, 73.6637924916, 73.0826104133,
      71.6563316757}},
    {"one_word", {100, 100, 100, 100, 100, 100, 50, 50}},
    {"one_wrong_word", {0, 0, 0, 0, 0, 0, 1e-14, 1e-14}},
    {"two_words",
     {55.7710105328, 57.7638116548, 55.7710105328, 57.7638116548, 56.4397838737, 77.484047402, 55.319667452,
      57.362766462}},
    {"repeated_words_are_clipped",
     {14.2324268482, 14.715329002, 14.2324268482, 14.715329002, 22.9091305148, 27.2705669345, 14.2320261438,
      14.7062776724}},
    {"no_four_grams_match",
     {60.7959952987, 62.2636631407, 60.7959952987, 62.2636631407, 80.1281448021, 91.8128654971, 60.7959952987,
      62.2636631407}},
    {"short_hypothesis",
     {41.1054613568, 42.4550727472, 41.1054613568, 42.4550727472, 41.6211959264, 58.2194115197, 41.0522023108,
      42.3962945902}},
    {"long_hypothesis",
     {83.7184603066, 84.6613965232, 83.7184603066, 84.6613965232, 84.3628539994, 70.9461318531, 83.6545878643,
      84.5462147319}},
    {"three_references",
     {78.3978525991, 76.6612830399, 78.3978525991, 76.6612830399, 84.2145137648, 82.8634161757, 78.3959034064,
      76.5789140868}},
    {"closest_length_of_two",
     {82.0610687023, 83.7004405286, 82.0610687023, 83.7004405286, 77.1799854263, 80.5120910384, 51.0701054179,
      56.7008474617}},
    {"closest_length_the_other_way",
     {82.0610687023, 83.7004405286, 82.0610687023, 83.7004405286, 77.1799854263, 80.5120910384, 51.0701054179,
      56.7008474617}},
    {"capitals",
     {16.4641690009, 14.431460084, 100, 100, 25.8281808204, 27.0772058824, 16.4641690009, 14.431460084}},
    {"greek_and_turkish_capitals",
     {16.7137422963, 14.0980945691, 100, 100, 19.5681584581, 19.7140807458, 16.713729778, 14.0977973335}},
    {"numbers",
     {80.4028465738, 78.1485320568, 83.7810492951, 83.9456438168, 83.7598823699, 81.8259037691, 80.4027977598,
      78.1289953388}},
    {"currency", {100, 87.3187752952, 100, 87.3187752952, 64.2742774465, 90.8296943231, 100, 87.2016523868}},
    {"entities",
     {18.5670558252, 16.910543381, 18.5670558252, 16.910543381, 27.6026301845, 24.8742277671, 18.5556722689,
      16.4167542017}},
    {"quotes_and_dashes",
     {71.6573065382, 58.5604052607, 71.6573065382, 58.5604052607, 58.9341914088, 71.4729774792, 71.6571635838,
      58.4019635969}},
    {"chinese",
     {36.3822751323, 31.1848072562, 36.3822751323, 31.1848072562, 36.3822751323, 43.2638888889, 36.3822751323,
      27.2867063492}},
    {"emoji",
     {68.4944077708, 69.8672007793, 68.4944077708, 69.8672007793, 75.7217901004, 79.8254103955, 68.4939263552,
      69.8516275621}},
    {"trailing_space", {100, 100, 100, 100, 86.0109386657, 100, 100, 100}},
};
INSTANTIATE_TEST_SUITE_P(Texts, Chrf, ::testing::ValuesIn(kChrfScores), kNameOfCase);

TEST(ChrfTexts, are_all_known_to_the_tests) {
  EXPECT_EQ(std::size(kChrfScores), text_cases().size());
}

TEST(ChrfCounts, are_those_of_each_order) {
  const auto counts = chrf_counts({"ab ab"}, {{"ab a"}}, {3, 2});
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_THAT(counts[0].hypothesis, ElementsAre(4, 3, 2, 2, 1));
  EXPECT_THAT(counts[0].reference, ElementsAre(3, 2, 1, 2, 1));
  EXPECT_THAT(counts[0].matches, ElementsAre(3, 2, 1, 1, 0));
}

TEST(ChrfCounts, leave_out_orders_the_reference_is_too_short_for) {
  EXPECT_THAT(chrf_counts({"abc"}, {{"a"}}, {3})[0].hypothesis, ElementsAre(3, 0, 0));
}

TEST(ChrfCounts, split_one_mark_from_a_word) {
  // "(hi)" is "(hi" and ")", "(hi" is "(" and "hi"; a mark alone stays.
  const auto counts = chrf_counts({"(hi) \"you - a, ("}, {{"(hi ) \" you - a , ("}}, {1, 1});
  EXPECT_THAT(counts[0].hypothesis, ElementsAre(12, 8));
  EXPECT_THAT(counts[0].reference, ElementsAre(12, 9));
  EXPECT_THAT(counts[0].matches, ElementsAre(12, 7));
}

TEST(ChrfCounts, sum_to_the_score_of_the_whole) {
  const TextCase& texts = text_case("three_references");
  const auto segments = chrf_counts(texts.hypotheses, texts.references);
  ChrfCounts sum;
  for (const ChrfCounts& segment : segments) sum += segment;
  EXPECT_EQ(chrf_from(sum), chrf(texts.hypotheses, texts.references));
}

TEST(ChrfCounts, of_segments_do_not_depend_on_their_neighbours) {
  const Segments hypotheses = {"abcd", "", "bcdabc", "xy"};
  const References references = {{"abcde", "x", "bcd", "xyz"}};
  const auto together = chrf_counts(hypotheses, references);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    EXPECT_EQ(together[i].matches, chrf_counts({hypotheses[i]}, {{references[0][i]}}).front().matches) << i;
  }
}

TEST(ChrfFrom, no_counts_at_all_is_zero) {
  EXPECT_EQ(chrf_from({}), 0);
}

TEST(ChrfSignature, is_the_one_sacrebleu_prints) {
  EXPECT_EQ(chrf_signature({}, 1), "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.4.3");
  EXPECT_EQ(chrf_signature({5, 2, 2, true, true, true}, 2),
            "nrefs:2|case:lc|eff:no|nc:5|nw:2|space:yes|version:2.4.3");
  EXPECT_EQ(chrf_name({}), "chrF2");
  EXPECT_EQ(chrf_name({6, 2, 3}), "chrF3++");
}

TEST(ChrfOptions, out_of_range_are_refused) {
  EXPECT_THAT([] { chrf({"a"}, {{"a"}}, {0}); }, ThrowsMessage<InvalidInput>(HasSubstr("character order 0")));
  EXPECT_THAT([] { chrf({"a"}, {{"a"}}, {6, -1}); }, ThrowsMessage<InvalidInput>(HasSubstr("word order -1")));
  EXPECT_THAT([] { chrf({"a"}, {{"a"}}, {6, 0, 0}); }, ThrowsMessage<InvalidInput>(HasSubstr("beta 0")));
  EXPECT_THAT(
      [] {
        chrf({"a"}, {{"a", "b"}});
      },
      ThrowsMessage<InvalidInput>(HasSubstr("1 hypotheses but 2")));
}

}  // namespace
}  // namespace synthesizer::testing
