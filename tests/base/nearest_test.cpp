// The suggestion at the end of a message.

#include "base/nearest.h"

#include <gtest/gtest.h>

namespace synthesizer::testing {
namespace {

const std::vector<std::string> kWords = {"vanilla", "dense", "random", "fixed-random"};

TEST(Nearest, finds_the_word_with_the_fewest_edits) {
  EXPECT_EQ(nearest("vanila", kWords), "vanilla");
  EXPECT_EQ(nearest("vanillla", kWords), "vanilla");
  EXPECT_EQ(nearest("randon", kWords), "random");
  EXPECT_EQ(nearest("dnese", kWords), "dense");
  EXPECT_EQ(nearest("fixed_random", kWords), "fixed-random");
}

TEST(Nearest, finds_the_word_itself_in_any_case) {
  EXPECT_EQ(nearest("dense", kWords), "dense");
  EXPECT_EQ(nearest("DENSE", kWords), "dense");
}

TEST(Nearest, finds_nothing_far_away) {
  EXPECT_EQ(nearest("convolution", kWords), "");
  EXPECT_EQ(nearest("zzzzz", kWords), "");
  EXPECT_EQ(nearest("vanilla", {}), "");
}

TEST(Nearest, allows_one_edit_in_the_shortest_words) {
  EXPECT_EQ(nearest("X", {"V", "FR"}), "V");
  EXPECT_EQ(nearest("F", {"FR"}), "FR");
  EXPECT_EQ(nearest("", {"V"}), "V");
  EXPECT_EQ(nearest("", {"FR"}), "");
}

TEST(Nearest, takes_the_first_of_equals) {
  EXPECT_EQ(nearest("rank", {"bank", "tank"}), "bank");
}

TEST(Nearest, ends_a_message) {
  EXPECT_EQ(did_you_mean("vanila", kWords), ", did you mean 'vanilla'?");
  EXPECT_EQ(did_you_mean("zzzzz", kWords), "");
}

}  // namespace
}  // namespace synthesizer::testing
