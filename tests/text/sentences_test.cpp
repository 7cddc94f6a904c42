// Lines cut to what SentencePiece takes.

#include "text/sentences.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace synthesizer::testing {
namespace {

TEST(Sentences, short_lines_stay_whole) {
  Sentences sentences;
  sentences.add("ein Haus");
  sentences.add("");
  sentences.add("b");
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0], "ein Haus");
  EXPECT_EQ(sentences[1], "b");
}

TEST(Sentences, long_lines_are_cut_at_spaces_or_between_characters_and_nothing_is_lost) {
  std::string spaced, unbroken;
  for (int i = 0; i < 3000; ++i) spaced += "groß ";
  for (int i = 0; i < 3000; ++i) unbroken += "€😀";
  for (const auto& line : {spaced, unbroken}) {
    Sentences sentences;
    sentences.add(line);
    std::string joined;
    for (size_t i = 0; i < sentences.size(); ++i) {
      EXPECT_LE(sentences[i].size(), Sentences::kLongest);
      EXPECT_EQ(first_invalid_byte(sentences[i]), std::string_view::npos);
      EXPECT_TRUE(line == unbroken || sentences[i].ends_with(' '));
      joined += sentences[i];
    }
    EXPECT_EQ(joined, line);
  }
}

}  // namespace
}  // namespace synthesizer::testing
