// Scores of captions against the numbers of the COCO caption toolkit, pycocoevalcap 1.2.

#include "metric/caption.h"

#include <gmock/gmock.h>

#include "metric/cider.h"
#include "metric/text_cases.h"

namespace synthesizer::testing {
namespace {

/// BLEU of orders 1 to 4, ROUGE-L, CIDEr.
using CaptionScores = std::array<double, 6>;

void expect_near(const Caption& found, const CaptionScores& expected) {
  for (size_t n = 0; n < 4; ++n) EXPECT_NEAR(found.bleu[n], expected[n], 1e-9) << "BLEU-" << n + 1;
  EXPECT_NEAR(found.rouge_l, expected[4], 1e-9);
  EXPECT_NEAR(found.cider, expected[5], 1e-8);
}

struct CaptionCase {
  const char* name;
  CaptionScores scores;
};

class CaptionTexts : public ::testing::TestWithParam<CaptionCase> {};

TEST_P(CaptionTexts, agree_with_the_toolkit) {
  const TextCase& texts = text_case(GetParam().name);
  expect_near(caption(texts.hypotheses, texts.references), GetParam().scores);
}

const CaptionCase kCaptionCases[] = {
    {"one_reference",
     {66.666666655556, 51.639777940395, 40.548013296276, 32.466791540949, 58.333333333333, 368.275532813576}},
    {"equal_texts", {99.99999996, 99.9999999575, 99.999999953889, 99.999999947917, 100.0, 0.0}},
    {"nothing_in_common", {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"empty_hypothesis", {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"empty_reference", {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"both_empty", {0.0, 0.0, 0.0, 0.0, 100.0, 0.0}},
    {"some_empty_hypotheses",
     {59.710942527912, 58.50453650064, 56.871127787481, 54.444605944062, 41.666666666667, 386.458333333333}},
    {"one_word", {99.9999998, 0.09999999985, 0.009999999987, 0.003162277656, 100.0, 0.0}},
    {"one_wrong_word", {0.0, 3.162e-09, 1e-07, 5.62341e-07, 0.0, 0.0}},
    {"two_words", {60.65306591061, 60.653065895447, 0.606530659106, 0.060653065918, 77.215189873418, 0.0}},
    {"repeated_words_are_clipped", {28.571428567347, 6.90066e-07, 2.12e-09, 1.24e-10, 31.202046035806, 0.0}},
    {"no_four_grams_match",
     {99.999999971429, 57.73502690178, 0.000405480133, 1.136219e-06, 71.428571428571, 0.0}},
    {"short_hypothesis",
     {28.650479671694, 28.6504796705, 28.65047966851, 28.650479663934, 57.547169811321, 0.0}},
    {"long_hypothesis",
     {59.999999994, 57.735026912868, 55.032120808745, 51.697315389527, 78.540772532189, 0.0}},
    {"three_references",
     {90.483741785499, 84.639790207607, 75.603659304542, 73.589366797058, 70.711024135682, 317.879917234908}},
    {"closest_length_of_two", {99.99999998, 99.9999999775, 99.999999973889, 99.999999967917, 100.0, 0.0}},
    {"closest_length_the_other_way",
     {99.99999998, 99.9999999775, 99.999999973889, 99.999999967917, 100.0, 0.0}},
    {"capitals", {16.666666661111, 5.7735e-07, 2.027e-09, 1.29e-10, 16.666666666667, 0.0}},
    {"greek_and_turkish_capitals", {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}},
    {"numbers", {71.428571408163, 69.006555913698, 65.86337558024, 61.47881527467, 71.428571428571, 0.0}},
    {"currency", {30.326532975523, 6.06531e-07, 1.774e-09, 1.03e-10, 38.607594936709, 0.0}},
    {"entities", {33.333333311111, 1.290994e-06, 5.503e-09, 6.3894e-08, 33.333333333333, 0.0}},
    {"quotes_and_dashes",
     {24.202205221989, 15.092726657333, 0.000137024758, 4.36558e-07, 32.049036777583, 0.0}},
    {"chinese", {0.0, 3.162e-09, 1e-07, 5.62341e-07, 0.0, 0.0}},
    {"emoji", {71.428571418367, 59.761430457471, 41.491326661265, 0.006500593259, 78.005115089514, 0.0}},
    {"trailing_space",
     {65.498460220039, 63.418611407025, 60.324597637081, 54.751825322178, 71.554252199413, 0.0}},
};
INSTANTIATE_TEST_SUITE_P(Texts, CaptionTexts, ::testing::ValuesIn(kCaptionCases), kNameOfCase);

TEST(Caption, texts_are_all_known_to_the_tests) {
  EXPECT_EQ(std::size(kCaptionCases), text_cases().size());
}

const Segments kCaptions = {"a man riding a wave on top of a surfboard", "a cat sitting on a bench",
                            "two dogs play in the snow"};
const References kCaptionReferences = {
    {"a man is riding a wave on a surfboard", "a cat sits on a wooden bench", "two dogs playing in snow"},
    {"a surfer on top of a wave", "the cat is sitting on the bench in a park",
     "dogs play in the snow two at a time"}};

TEST(Caption, of_several_segments_agrees_with_the_toolkit) {
  expect_near(
      caption(kCaptions, {kCaptionReferences[0]}),
      {77.272727269215, 57.040235942949, 34.389369476624, 23.650064079957, 78.27582076945, 302.046092484853});
  expect_near(caption(kCaptions, kCaptionReferences), {99.999999995455, 91.766293543724, 71.688277646891,
                                                       58.025016081922, 80.740467234097, 335.785174338783});
}

TEST(Cider, counts_a_repeated_reference_once) {
  EXPECT_NEAR(cider(kCaptions, {kCaptionReferences[0], kCaptionReferences[0]}),
              cider(kCaptions, {kCaptionReferences[0]}), 1e-9);
}

TEST(Cider, of_the_same_texts_is_1000) {
  EXPECT_NEAR(cider(kCaptionReferences[0], {kCaptionReferences[0]}), 1000, 1e-9);
}

}  // namespace
}  // namespace synthesizer::testing
