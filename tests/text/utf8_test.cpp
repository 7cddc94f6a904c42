// UTF-8 taken strictly, and texts taken apart.

#include "text/utf8.h"

#include <gtest/gtest.h>

namespace synthesizer::testing {
namespace {

using namespace std::string_view_literals;
using Views = std::vector<std::string_view>;
constexpr size_t kAllValid = std::string_view::npos;

TEST(Utf8, valid_text_has_no_invalid_byte) {
  for (std::string_view text :
       {""sv, "plain"sv, "größer"sv, "日本語"sv, "😀"sv, "a\0b"sv, "\u07FF\uFFFF\U0010FFFF"sv}) {
    EXPECT_EQ(first_invalid_byte(text), kAllValid) << text;
  }
}

TEST(Utf8, finds_the_first_invalid_byte_behind_any_length_of_ascii) {
  for (size_t n = 0; n < 40; ++n) {
    EXPECT_EQ(first_invalid_byte(std::string(n, 'a') + "\xFF" + "aaaaaaaaaaaaaaaa"), n);
    EXPECT_EQ(first_invalid_byte(std::string(n, 'a') + "ä" + "\x80"), n + 2);
  }
}

struct Bad {
  const char* name;
  std::string_view bytes;
};

class InvalidUtf8 : public ::testing::TestWithParam<Bad> {};

TEST_P(InvalidUtf8, is_found_also_between_valid_characters) {
  const auto bytes = GetParam().bytes;
  EXPECT_EQ(first_invalid_byte(bytes), 0u);
  EXPECT_EQ(first_invalid_byte("ä" + std::string(bytes) + "x"), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    , InvalidUtf8,
    ::testing::Values(Bad{"Continuation", "\x80"}, Bad{"OverlongSlash", "\xC0\xAF"},
                      Bad{"OverlongTwo", "\xC1\xBF"}, Bad{"OverlongThree", "\xE0\x9F\xBF"},
                      Bad{"OverlongFour", "\xF0\x8F\xBF\xBF"}, Bad{"Surrogate", "\xED\xA0\x80"},
                      Bad{"LastSurrogate", "\xED\xBF\xBF"}, Bad{"TooLarge", "\xF4\x90\x80\x80"},
                      Bad{"FiveBytes", "\xF8\x88\x80\x80\x80"}, Bad{"CutTwo", "\xC3"},
                      Bad{"CutThree", "\xE2\x82"}, Bad{"CutFour", "\xF0\x9F\x98"}),
    [](const auto& info) { return info.param.name; });

TEST(Utf8, every_code_point_survives_encoding_and_back) {
  for (char32_t code = 0; code < 0x110000; code = code < 0x3000 ? code + 1 : code + 61) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string character = encode_code_point(code);
    ASSERT_EQ(first_invalid_byte(character), kAllValid) << uint32_t{code};
    ASSERT_EQ(count_characters(character), 1u) << uint32_t{code};
    ASSERT_EQ(code_point(character), code);
  }
  EXPECT_EQ(code_point(encode_code_point(0x10FFFF)), 0x10FFFFu);
}

TEST(Utf8, counts_code_points_not_bytes) {
  EXPECT_EQ(count_characters(""), 0u);
  EXPECT_EQ(count_characters("Käse"), 4u);
  EXPECT_EQ(count_characters("a😀b"), 3u);
}

TEST(Utf8, splits_into_characters) {
  EXPECT_EQ(split_characters("aä😀"), (Views{"a", "ä", "😀"}));
  EXPECT_EQ(split_characters(""), Views{});
}

TEST(Utf8, an_invalid_sequence_is_split_as_one) {
  EXPECT_EQ(split_characters("a\xF0\x9F\x98z"), (Views{"a", "\xF0\x9F\x98", "z"}));
  EXPECT_EQ(split_characters("\xED\xA0\x80"), (Views{"\xED", "\xA0", "\x80"}));
}

TEST(Utf8, invalid_sequences_are_replaced_as_python_does) {
  EXPECT_EQ(replace_invalid("größer 😀"), "größer 😀");
  EXPECT_EQ(replace_invalid("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(replace_invalid("a\xF0\x9F\x98z"), "a\uFFFDz");
  EXPECT_EQ(replace_invalid("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid("\xE2\x82"), "\uFFFD");
}

TEST(Utf8, splits_words_at_runs_of_ascii_white_space_only) {
  EXPECT_EQ(split_words(" the \t old\r\nhouse\v\f"), (Views{"the", "old", "house"}));
  EXPECT_EQ(split_words("word"), Views{"word"});
  EXPECT_EQ(split_words(""), Views{});
  EXPECT_EQ(split_words(" \t "), Views{});
  EXPECT_EQ(split_words("no\u00A0break"), Views{"no\u00A0break"});
}

}  // namespace
}  // namespace synthesizer::testing
