#pragma once

#include <sentencepiece_processor.h>

#include <unordered_map>

#include "text/added_tokens.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// SentencePiece's pieces with numbers that are not SentencePiece's own, as the models of Marian and T5 on
/// Hugging Face have them: a vocabulary file numbers the pieces, two languages may share it, and tokens may
/// be added behind.
struct PieceNumbering {
  std::string model = {};                ///< a serialized ModelProto
  std::vector<std::string> pieces = {};  ///< by number; "" where the number has none
  Token begin = 0, end = 0, unknown = 0;
  Token forbidden = -1;                 ///< see Tokenizer::forbidden()
  bool language_codes = false;          ///< ">>fra<<" at the begin of a text is one token
  std::vector<std::string> added = {};  ///< tokens that stand in the text as they are: "<extra_id_0>"
};

class NumberedPieces : public Tokenizer {
 public:
  /// Throws InvalidInput where the numbering is not one: a number out of range, a model that is damaged.
  NumberedPieces(PieceNumbering numbering, const std::string& name);
  NumberedPieces(const std::string& serialized, const std::string& name);
  static bool is_serialized(std::string_view contents);

  /// Added tokens, begin(), end() and the unknown token are recognised in the text: "</s>".
  Tokens encode(std::string_view line) const override;
  /// begin(), end(), the unknown token and added ones are no text.
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override { return static_cast<int64_t>(numbering_.pieces.size()); }
  Token begin() const override { return numbering_.begin; }
  Token end() const override { return numbering_.end; }
  Token unknown() const override { return numbering_.unknown; }
  Token forbidden() const override { return numbering_.forbidden; }
  bool shares_vocabulary(const Tokenizer& other) const override;
  std::string kind() const override { return "numbered pieces"; }
  std::string serialized() const override;
  const PieceNumbering& numbering() const { return numbering_; }

 private:
  Token number_of(const std::string& piece) const;
  void encode_plain(std::string_view text, Tokens& tokens) const;

  PieceNumbering numbering_;
  std::unordered_map<std::string, Token> numbers_;
  AddedTokens added_;
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace synthesizer
