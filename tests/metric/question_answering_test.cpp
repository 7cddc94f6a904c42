// Scores of answers, with the examples worked out by hand from SQuAD's, ReCoRD's and MultiRC's definitions.

#include "metric/question_answering.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace synthesizer::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Answers, are_normalized_as_squad_does) {
  EXPECT_EQ(normalized_answer("  The Cat's  a-hat, an U.S.A. "), "cats ahat usa");
  EXPECT_EQ(normalized_answer("Theatre another AN the"), "theatre another");
  EXPECT_EQ(normalized_answer("“the” café\u00a0a"), "“ ” café");
  EXPECT_EQ(normalized_answer("£5 & 10%"), "£5 10");
  EXPECT_EQ(normalized_answer("the"), "");
}

// As the official script, run with Python 3.11, has them.
TEST(Answers, have_words_of_letters_and_numbers_alone) {
  EXPECT_EQ(normalized_answer("the\u200bcat"), "\u200bcat");  // a format character
  EXPECT_EQ(normalized_answer("a\u0903 x"), "\u0903 x");      // a spacing mark
  EXPECT_EQ(normalized_answer("the\u0301 x"), "\u0301 x");    // a mark without a width
  EXPECT_EQ(normalized_answer("the\ue000b"), "\ue000b");      // private use
  EXPECT_EQ(normalized_answer("the² a½"), "the² a½");         // numbers that are no digits
  EXPECT_EQ(normalized_answer("an_the the_cat"), "anthe thecat");
}

TEST(Answers, match_where_one_is_the_same) {
  EXPECT_EQ(exact_match("the Norman.", {"Normans", "Norman"}), 100);
  EXPECT_EQ(exact_match("Norman", {"Normans", "Norman people"}), 0);
  EXPECT_EQ(exact_match("", {"x"}), 0);
}

TEST(Answers, share_words_with_the_best_of_several) {
  EXPECT_NEAR(f1("the big red dog", {"a red cat", "big dog"}), 80, 1e-9);  // 2 of 3 and 2 of 2
  EXPECT_NEAR(f1("dog dog cat", {"dog"}), 50, 1e-9);                       // 1 of 3 and 1 of 1
  EXPECT_EQ(f1("cat", {"dog"}), 0);
  EXPECT_EQ(f1("the", {"a"}), 0);  // no words are none in common
}

TEST(MultiRc, counts_options_and_whole_questions) {
  const std::vector<MultiRcOption> options = {{"q1", true, true},  {"q1", false, false}, {"q2", true, false},
                                              {"q2", true, true},  {"q3", false, true},  {"q2", false, false},
                                              {"q4", false, false}};
  EXPECT_NEAR(multirc_f1a(options), 100 * 2 * 2 / (3 + 3.0), 1e-9);
  EXPECT_EQ(multirc_exact_match(options), 50);  // q1 and q4
  EXPECT_EQ(multirc_f1a({{"q", false, false}}), 0);
  EXPECT_THAT([] { multirc_exact_match({}); }, ThrowsMessage<InvalidInput>(HasSubstr("nothing to score")));
}

}  // namespace
}  // namespace synthesizer::testing
