// SentencePiece models that are trained here.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "text/tokenizer_support.h"

namespace synthesizer::testing {
namespace {

/// Sentences of words that are put together at random, always the same.
Lines sentences() {
  const Lines stems = {"haus", "old", "river", "stand", "weit", "groß", "Flüss", "land", "night", "wind"};
  const Lines endings = {"", "e", "er", "en", "ing", "ly", "heit", "st"};
  std::mt19937 random(7);
  auto one_of = [&](const Lines& parts) { return parts[random() % parts.size()]; };
  Lines lines = {"", "a 😀 smile"};
  for (int i = 0; i < 400; ++i) {
    std::string line = one_of(stems);
    for (int j = 0; j < 8; ++j) line += one_of(endings) + " " + one_of(stems);
    lines.push_back(line + (i % 3 == 0 ? "." : ""));
  }
  return lines;
}

class SentencePiece : public ::testing::TestWithParam<const char*> {
 protected:
  static TokenizerKind kind() { return choose<TokenizerKind>("kind", GetParam()); }
  static std::unique_ptr<Tokenizer> make(int64_t vocabulary, const Lines& lines = sentences()) {
    return train_tokenizer({.kind = kind(), .vocabulary = vocabulary}, source(lines));
  }
};

TEST_P(SentencePiece, has_the_vocabulary_asked_for_and_its_special_tokens_first) {
  const auto tokenizer = make(45);
  EXPECT_EQ(tokenizer->size(), 45);
  EXPECT_EQ(tokenizer->kind(), GetParam());
  EXPECT_EQ(tokenizer->begin(), 1);
  EXPECT_EQ(tokenizer->end(), 2);
  EXPECT_EQ(tokenizer->line_end(), 2);
  EXPECT_EQ(tokenizer->piece(0), "<unk>");
  EXPECT_EQ(tokenizer->piece(1), "<s>");
  EXPECT_EQ(tokenizer->piece(2), "</s>");
  EXPECT_EQ(tokenizer->piece(-1), "");
}

TEST_P(SentencePiece, gives_every_line_back) {
  const auto tokenizer = make(45);
  for (const auto& line : sentences()) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(line)), line);
  }
  EXPECT_TRUE(tokenizer->encode("").empty());
  EXPECT_EQ(tokenizer->decode({}), "");
}

TEST_P(SentencePiece, leaves_out_begin_end_and_padding) {
  const auto tokenizer = make(45);
  Tokens tokens = tokenizer->encode("old river wind");
  tokens.insert(tokens.begin(), tokenizer->begin());
  tokens.insert(tokens.end(), {tokenizer->end(), -1, -100});
  EXPECT_EQ(tokenizer->decode(tokens), "old river wind");
}

TEST_P(SentencePiece, refuses_tokens_outside_its_vocabulary) {
  const auto tokenizer = make(45);
  EXPECT_EQ(message([&] { tokenizer->decode(Tokens{45}); }), "token 45 is not in the vocabulary of 45");
  EXPECT_EQ(message([&] { tokenizer->piece(45); }), "token 45 is not in the vocabulary of 45");
}

TEST_P(SentencePiece, what_it_never_saw_is_unknown) {
  const auto tokenizer = make(45);
  const Tokens tokens = tokenizer->encode("Ж");
  EXPECT_EQ(tokens.back(), 0);
}

TEST_P(SentencePiece, trains_to_the_same_bytes_every_time) {
  EXPECT_EQ(make(45)->serialized(), make(45)->serialized());
}

TEST_P(SentencePiece, is_the_same_after_saving_and_parsing) {
  const auto tokenizer = make(45);
  const auto parsed = parse_tokenizer(tokenizer->serialized(), "t.model");
  EXPECT_EQ(parsed->serialized(), tokenizer->serialized());
  EXPECT_EQ(parsed->kind(), GetParam());
  EXPECT_EQ(parsed->encode("größer Flüsse."), tokenizer->encode("größer Flüsse."));
}

/// The number before " pieces" in a message.
int64_t limit(const std::string& text) {
  const size_t end = text.find(" pieces"), begin = text.rfind(' ', end - 1);
  return std::stoll(text.substr(begin, end - begin));
}

TEST_P(SentencePiece, a_vocabulary_the_text_cannot_give_is_refused_with_the_largest) {
  for (const int64_t asked : {int64_t{5000}, int64_t{1} << 40}) {
    const std::string text = message([&] { make(asked); });
    const std::string most = std::to_string(limit(text));
    EXPECT_EQ(text, "data.vocabulary is " + std::to_string(asked) + ", but this text can give at most " +
                        most + " pieces: set data.vocabulary to " + most + " or less");
    EXPECT_EQ(make(limit(text))->size(), limit(text));
  }
}

TEST_P(SentencePiece, a_vocabulary_without_room_for_the_characters_is_refused_with_the_least) {
  for (const int64_t asked : {-5, 0, 1, 3, 10}) {
    const std::string text = message([&] { make(asked); });
    const std::string least = std::to_string(limit(text));
    EXPECT_EQ(text, "data.vocabulary is " + std::to_string(asked) + ", but this text needs at least " +
                        least + " pieces: set data.vocabulary to " + least + " or more");
    EXPECT_EQ(make(limit(text))->size(), limit(text));
  }
}

TEST_P(SentencePiece, a_text_of_nothing_but_control_characters_is_empty) {
  for (const Lines& lines : {Lines{" ", "\t"}, Lines{"\x01"}, Lines{"▁"}, Lines{"▅"}}) {
    EXPECT_EQ(message([&] { make(10, lines); }),
              "the training text (data.train) is empty: there is nothing to make a tokenizer from");
  }
}

TEST_P(SentencePiece, text_after_many_empty_lines_is_found) {
  Lines lines(1000, " ");
  lines.emplace_back("ab");
  EXPECT_EQ(make(6, lines)->decode(make(6, lines)->encode("ab")), "ab");
}

TEST_P(SentencePiece, learns_from_lines_of_any_length) {
  std::string wide, unbroken(70'000, 'x');
  for (int i = 0; i < 5000; ++i) wide += "größere ";
  const auto tokenizer = make(20, {wide, unbroken, "q"});
  for (const std::string text : {"größere", "xxx", "q"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(unbroken)), unbroken);
}

TEST_P(SentencePiece, character_coverage_leaves_out_the_rarest) {
  Lines lines = sentences();
  lines.emplace_back("Ж");
  const TokenizerOptions all{.kind = kind(), .vocabulary = 45}, most{kind(), 45, 0.999};
  EXPECT_NE(train_tokenizer(all, source(lines))->encode("Ж").back(), 0);
  EXPECT_EQ(train_tokenizer(most, source(lines))->encode("Ж").back(), 0);
}

TEST_P(SentencePiece, character_coverage_outside_its_range_is_refused) {
  EXPECT_EQ(message([] {
              train_tokenizer({kind(), 45, 0.5}, source({"a"}));
            }),
            "data.character_coverage is 0.5: it must be from 0.98 to 1");
}

TEST_P(SentencePiece, encodes_in_many_threads_at_once) {
  const auto tokenizer = make(45);
  const Lines lines = sentences();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (const auto& line : lines) count += tokenizer->decode(tokenizer->encode(line)) != line;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_P(SentencePiece, says_nothing_on_standard_output_or_error) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const auto tokenizer = make(45);
  EXPECT_NE(message([] { make(5000); }), "no error");
  EXPECT_NE(message([&] { parse_tokenizer(tokenizer->serialized().substr(100), "t"); }), "no error");
  tokenizer->decode(tokenizer->encode("the Ж"));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_P(SentencePiece, damaged_models_are_refused_or_read_but_never_crash) {
  const std::string whole = make(45)->serialized();
  int refused = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::string damaged = whole;
    // The pieces and the start of the table of characters, or anywhere.
    const size_t range = seed % 2 == 0 ? 8000 : damaged.size();
    for (int i = 0; i < 4; ++i) damaged[random() % range] = static_cast<char>(random());
    if (seed % 5 == 0) damaged.resize(random() % damaged.size());
    try {
      const auto parsed = parse_tokenizer(damaged, "t.model");
      parsed->decode(parsed->encode("größer und ﬁner 😀"));
    } catch (const InvalidInput& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("t.model is not a tokenizer: ")) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 60);
}

INSTANTIATE_TEST_SUITE_P(, SentencePiece, ::testing::Values("unigram", "bpe"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace synthesizer::testing
