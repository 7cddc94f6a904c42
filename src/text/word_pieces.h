#pragma once

#include <unordered_map>

#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// BERT's tokenizer: words and signs, each as the longest pieces that the vocabulary has; pieces inside a
/// word begin with "##".
struct WordPieceModel {
  std::vector<std::string> pieces = {};  ///< by number; "" where the number has none
  bool lowercase = true;
  bool strip_accents = true;
  bool split_chinese = true;  ///< each Chinese character is a word of its own
  std::string unknown = "[UNK]", begin = "[CLS]", end = "[SEP]";
  std::vector<std::string> added = {};  ///< that stand in a text as they are, such as "[MASK]"
};

class WordPieces : public Tokenizer {
 public:
  /// Throws InvalidInput where a special token has no number.
  WordPieces(WordPieceModel model, const std::string& name);
  WordPieces(const std::string& serialized, const std::string& name);
  static bool is_serialized(std::string_view contents);

  Tokens encode(std::string_view line) const override;
  /// Words with one space between them.
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override { return static_cast<int64_t>(model_.pieces.size()); }
  Token begin() const override { return begin_; }
  Token end() const override { return end_; }
  Token unknown() const override { return unknown_; }
  std::string kind() const override { return "word pieces"; }
  std::string serialized() const override;
  const WordPieceModel& model() const { return model_; }

 private:
  void encode_word(const std::u32string& word, Tokens& tokens) const;
  std::u32string normalized(std::string_view text) const;

  WordPieceModel model_;
  Token unknown_ = 0, begin_ = 0, end_ = 0;
  AddedTokens added_;
  std::unordered_map<std::string, Token> numbers_;
};

}  // namespace synthesizer
