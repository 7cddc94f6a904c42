// SentencePiece models that were trained elsewhere, with other ids.

#include <gtest/gtest.h>
#include <sentencepiece_trainer.h>

#include "text/tokenizer_support.h"

namespace synthesizer::testing {
namespace {

/// A model that was trained elsewhere, with ids of its own.
std::string foreign_model(std::unordered_map<std::string, std::string> settings) {
  class OneLine : public sentencepiece::SentenceIterator {
   public:
    bool done() const override { return done_; }
    void Next() override { done_ = true; }
    const std::string& value() const override { return line_; }
    sentencepiece::util::Status status() const override { return {}; }

   private:
    std::string line_ = "the old house";
    bool done_ = false;
  } line;
  settings.insert({{"vocab_size", "20"}, {"hard_vocab_limit", "false"}, {"minloglevel", "3"}});
  std::string model;
  EXPECT_TRUE(sentencepiece::SentencePieceTrainer::Train(settings, &line, &model).ok());
  return model;
}

TEST(ForeignSentencePiece, without_begin_a_model_starts_from_padding_as_t5_does) {
  const auto tokenizer = parse_tokenizer(
      foreign_model({{"pad_id", "0"}, {"eos_id", "1"}, {"unk_id", "2"}, {"bos_id", "-1"}}), "t5.model");
  EXPECT_EQ(tokenizer->begin(), 0);
  EXPECT_EQ(tokenizer->end(), 1);
  Tokens tokens = tokenizer->encode("the house");
  tokens.insert(tokens.begin(), 0);
  tokens.insert(tokens.end(), {1, 0, 0});
  EXPECT_EQ(tokenizer->decode(tokens), "the house");
}

TEST(ForeignSentencePiece, without_begin_and_padding_a_model_starts_from_its_end) {
  const auto tokenizer =
      parse_tokenizer(foreign_model({{"eos_id", "0"}, {"unk_id", "1"}, {"bos_id", "-1"}}), "x.model");
  EXPECT_EQ(tokenizer->begin(), 0);
  EXPECT_EQ(tokenizer->end(), 0);
}

TEST(ForeignSentencePiece, without_end_it_is_refused) {
  EXPECT_EQ(message([] {
              parse_tokenizer(foreign_model({{"eos_id", "-1"}}), "x.model");
            }),
            "x.model is not a tokenizer: this SentencePiece model has no end-of-sentence piece (</s>)");
}

TEST(ForeignSentencePiece, says_its_kind) {
  EXPECT_EQ(parse_tokenizer(foreign_model({{"model_type", "word"}}), "x")->kind(), "words");
  EXPECT_EQ(parse_tokenizer(foreign_model({{"model_type", "char"}}), "x")->kind(), "characters");
  EXPECT_EQ(parse_tokenizer(foreign_model({{"model_type", "bpe"}}), "x")->kind(), "bpe");
}

}  // namespace
}  // namespace synthesizer::testing
