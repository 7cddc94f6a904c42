#pragma once

#include <sentencepiece_processor.h>

#include "text/tokenizer.h"

namespace synthesizer {

/// Pieces of words as a SentencePiece model has them: one of ours, or one brought along.
class SentencePieceTokenizer : public Tokenizer {
 public:
  /// `model`: a serialized ModelProto. Throws InvalidInput where it is none, or has no end-of-sentence piece.
  SentencePieceTokenizer(std::string model, const std::string& name);

  Tokens encode(std::string_view line) const override;
  /// What was unknown is shown as the model says, by default as " ⁇ ".
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override { return processor_.GetPieceSize(); }
  /// <s>; where the model has none, padding (as T5 starts) or else the end.
  Token begin() const override { return begin_; }
  Token end() const override { return end_; }
  Token unknown() const override { return processor_.unk_id(); }
  std::string kind() const override { return kind_; }
  std::string serialized() const override { return model_; }

 private:
  std::string model_, name_;  ///< name_: of its file, for messages
  sentencepiece::SentencePieceProcessor processor_;
  std::string kind_;
  Token begin_ = 0, end_ = 0;
};

}  // namespace synthesizer
