// Means of a likelihood.

#include "metric/perplexity.h"

#include <gmock/gmock.h>

#include <cmath>

namespace synthesizer::testing {
namespace {

TEST(Likelihood, gives_the_means_of_tokens_words_and_characters) {
  // Eight tokens of probability 1/4 each.
  const Likelihood text{8 * std::log(4.0), 8, 4, 16};
  EXPECT_NEAR(text.loss(), std::log(4.0), 1e-12);
  EXPECT_NEAR(text.perplexity(), 4, 1e-12);
  EXPECT_NEAR(text.word_perplexity(), 16, 1e-11);
  EXPECT_NEAR(text.bits_per_character(), 1, 1e-12);
}

TEST(Likelihood, of_a_certain_text_is_one) {
  const Likelihood text{0, 5, 3, 12};
  EXPECT_EQ(text.loss(), 0);
  EXPECT_EQ(text.perplexity(), 1);
  EXPECT_EQ(text.word_perplexity(), 1);
  EXPECT_EQ(text.bits_per_character(), 0);
}

TEST(Likelihood, of_nothing_is_not_a_number) {
  const Likelihood nothing;
  EXPECT_TRUE(std::isnan(nothing.loss()));
  EXPECT_TRUE(std::isnan(nothing.perplexity()));
  EXPECT_TRUE(std::isnan(nothing.word_perplexity()));
  EXPECT_TRUE(std::isnan(nothing.bits_per_character()));
}

TEST(Likelihood, says_nothing_of_words_that_were_not_counted) {
  const Likelihood text{3, 2, 0, 0};
  EXPECT_EQ(text.loss(), 1.5);
  EXPECT_TRUE(std::isnan(text.word_perplexity()));
  EXPECT_TRUE(std::isnan(text.bits_per_character()));
}

TEST(Likelihood, becomes_infinite_where_it_is_too_large) {
  const Likelihood text{1e6, 1, 1, 1};
  EXPECT_EQ(text.loss(), 1e6);
  EXPECT_TRUE(std::isinf(text.perplexity()));
  EXPECT_TRUE(std::isinf(text.word_perplexity()));
  EXPECT_TRUE(std::isfinite(text.bits_per_character()));
}

TEST(Likelihood, adds_up) {
  Likelihood sum{1, 2, 1, 5};
  sum += {3, 6, 3, 11};
  EXPECT_EQ(sum.nll, 4);
  EXPECT_EQ(sum.tokens, 8);
  EXPECT_EQ(sum.words, 4);
  EXPECT_EQ(sum.characters, 16);
  EXPECT_EQ(sum.loss(), 0.5);
}

}  // namespace
}  // namespace synthesizer::testing
