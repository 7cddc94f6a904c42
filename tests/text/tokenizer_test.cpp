// Characters, words and bytes.

#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <random>

#include "text/tokenizer_support.h"

namespace synthesizer::testing {
namespace {

/// What is true of every kind that can be read by people.
class ReadableTokenizer : public ::testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Tokenizer> tokenizer_ =
      make(GetParam(), 0,
           {"the old house", "", "über große Häuser", "a 😀 \\n back\\slash", std::string("n\0l", 3)});
};

TEST_P(ReadableTokenizer, gives_back_what_it_learnt) {
  for (const std::string line : {"the old house", "", "über große Häuser", "a 😀 \\n back\\slash"}) {
    EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(line)), line);
  }
  EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(std::string("n\0l", 3))), std::string("n\0l", 3));
}

TEST_P(ReadableTokenizer, an_empty_line_has_no_tokens) {
  EXPECT_TRUE(tokenizer_->encode("").empty());
}

TEST_P(ReadableTokenizer, is_the_same_after_saving_and_parsing) {
  const auto parsed = parse_tokenizer(tokenizer_->serialized(), "t.model");
  EXPECT_EQ(parsed->serialized(), tokenizer_->serialized());
  EXPECT_EQ(parsed->kind(), GetParam());
  ASSERT_EQ(parsed->size(), tokenizer_->size());
  for (Token token = 0; token < parsed->size(); ++token) {
    EXPECT_EQ(parsed->piece(token), tokenizer_->piece(token));
  }
  EXPECT_EQ(parsed->encode("the größe 😀"), tokenizer_->encode("the größe 😀"));
}

TEST_P(ReadableTokenizer, says_what_it_is_in_its_first_line) {
  EXPECT_TRUE(
      tokenizer_->serialized().starts_with(std::string("synthesizer tokenizer 1 ") + GetParam() + " "));
}

TEST_P(ReadableTokenizer, leaves_out_begin_end_and_padding) {
  Tokens tokens = tokenizer_->encode("house");
  tokens.insert(tokens.begin(), tokenizer_->begin());
  tokens.insert(tokens.end(), {tokenizer_->end(), -1, -100});
  EXPECT_EQ(tokenizer_->decode(tokens), "house");
  EXPECT_EQ(tokenizer_->piece(tokenizer_->begin()), "<s>");
  EXPECT_EQ(tokenizer_->piece(tokenizer_->end()), "</s>");
  EXPECT_EQ(tokenizer_->piece(-1), "");
}

TEST_P(ReadableTokenizer, refuses_tokens_outside_its_vocabulary) {
  const Tokens tokens = {static_cast<Token>(tokenizer_->size())};
  const std::string expected =
      "token " + std::to_string(tokens[0]) + " is not in the vocabulary of " + std::to_string(tokens[0]);
  EXPECT_EQ(message([&] { tokenizer_->decode(tokens); }), expected);
  EXPECT_EQ(message([&] { tokenizer_->piece(tokens[0]); }), expected);
}

TEST_P(ReadableTokenizer, files_cut_off_anywhere_are_refused) {
  const std::string whole = tokenizer_->serialized();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_TRUE(parse_message(whole.substr(0, bytes)).starts_with("t.model is not a tokenizer: ")) << bytes;
  }
}

TEST_P(ReadableTokenizer, damaged_files_are_refused_or_read_but_never_crash) {
  const std::string whole = tokenizer_->serialized();
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::string damaged = whole;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const auto parsed = parse_tokenizer(damaged, "t.model");
      EXPECT_EQ(parsed->serialized(), damaged);
    } catch (const InvalidInput& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("t.model is not a tokenizer: ")) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, ReadableTokenizer, ::testing::Values("characters", "words", "bytes"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Characters, stand_in_the_order_of_their_code_points_after_the_special_ones) {
  const auto tokenizer = make("characters", 0, {"bä a", "😀"});
  const std::vector<std::string> expected = {"<unk>", "<s>", "</s>", "\n", " ", "a", "b", "ä", "😀"};
  ASSERT_EQ(tokenizer->size(), 9);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(tokenizer->piece(static_cast<Token>(i)), expected[i]);
  EXPECT_EQ(tokenizer->serialized(), "synthesizer tokenizer 1 characters 6\n\\n\n \na\nb\nä\n😀\n");
}

TEST(Characters, encode_the_line_break_as_line_end) {
  const auto tokenizer = make("characters", 0, {"ab"});
  EXPECT_EQ(tokenizer->encode("\n"), Tokens{tokenizer->line_end()});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a\nb")), "a\nb");
}

TEST(Characters, show_what_is_unknown_as_the_replacement_character) {
  const auto tokenizer = make("characters", 0, {"ab"});
  EXPECT_EQ(tokenizer->encode("a€😀\xFF"), (Tokens{4, 0, 0, 0}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a€")), "a\uFFFD");
}

TEST(Characters, a_vocabulary_keeps_the_most_frequent_and_the_line_break) {
  const auto tokenizer = make("characters", 6, {"cccbba", "a"});
  EXPECT_EQ(tokenizer->size(), 6);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("abc\n")), "a\uFFFDc\n");  // a and b tie: the smaller stays
}

TEST(Characters, a_vocabulary_the_text_cannot_give_is_refused) {
  EXPECT_EQ(
      message([] { make("characters", 8, {"abc"}); }),
      "data.vocabulary is 8, but this text can give at most 7 pieces: set data.vocabulary to 7 or less");
  EXPECT_EQ(make("characters", 7, {"abc"})->size(), 7);
  EXPECT_EQ(message([] { make("characters", 4, {"abc"}); }),
            "data.vocabulary is 4, but this text needs at least 5 pieces: set data.vocabulary to 5 or more");
  EXPECT_EQ(make("characters", 5, {"abc"})->size(), 5);
}

TEST(Words, stand_by_frequency_then_alphabet) {
  const auto tokenizer = make("words", 0, {"b  a\tc", " b "});
  EXPECT_EQ(tokenizer->serialized(), "synthesizer tokenizer 1 words 3\nb\na\nc\n");
  EXPECT_EQ(tokenizer->encode("a b\tc"), (Tokens{4, 3, 5}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" a   b ")), "a b");
  EXPECT_EQ(tokenizer->line_end(), tokenizer->end());
}

TEST(Words, unk_in_the_text_is_the_unknown_word) {
  const auto tokenizer = make("words", 0, {"<unk> <unk> <unk> a"});
  EXPECT_EQ(tokenizer->size(), 4);
  EXPECT_EQ(tokenizer->encode("<unk> a other"), (Tokens{0, 3, 0}));
  EXPECT_EQ(tokenizer->decode(Tokens{0, 3}), "<unk> a");
}

TEST(Words, names_of_special_tokens_in_the_text_are_words) {
  const auto tokenizer = make("words", 0, {"<s> a </s>"});
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("<s> a </s>")), "<s> a </s>");
}

TEST(Words, a_vocabulary_the_text_cannot_give_is_refused) {
  EXPECT_EQ(
      message([] {
        make("words", 100, {"a b", "a"});
      }),
      "data.vocabulary is 100, but this text can give at most 5 pieces: set data.vocabulary to 5 or less");
  EXPECT_EQ(message([] {
              make("words", -1, {"a b", "a"});
            }),
            "data.vocabulary is -1, but this text needs at least 4 pieces: set data.vocabulary to 4 or more");
  EXPECT_EQ(make("words", 4, {"a b", "a"})->encode("a b"), (Tokens{3, 0}));
}

TEST(Bytes, are_their_own_numbers) {
  const auto tokenizer = make("bytes", 0, {});
  EXPECT_EQ(tokenizer->size(), 258);
  EXPECT_EQ(tokenizer->encode("aä\n"), (Tokens{97, 0xC3, 0xA4, 10}));
  EXPECT_EQ(tokenizer->line_end(), 10);
  EXPECT_EQ(tokenizer->piece('a'), "a");
  EXPECT_EQ(tokenizer->piece(0xC3), "<0xC3>");
  EXPECT_EQ(tokenizer->serialized(), "synthesizer tokenizer 1 bytes 0\n");
}

TEST(Bytes, that_are_no_utf8_are_shown_as_the_replacement_character) {
  EXPECT_EQ(make("bytes", 0, {})->decode(Tokens{97, 0xC3, 98, 0xFF}), "a\uFFFDb\uFFFD");
}

TEST(TrainTokenizer, an_empty_text_is_refused) {
  for (const char* kind : {"characters", "words", "unigram", "bpe"}) {
    for (const Lines& lines : {Lines{}, {"", ""}}) {
      EXPECT_EQ(message([&] { make(kind, 10, lines); }),
                "the training text (data.train) is empty: there is nothing to make a tokenizer from")
          << kind;
    }
  }
}

}  // namespace
}  // namespace synthesizer::testing
