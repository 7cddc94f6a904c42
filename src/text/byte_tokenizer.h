#pragma once

#include "text/tokenizer.h"

namespace synthesizer {

/// Every byte is a token, so there is nothing to learn and nothing unknown: 256 bytes, begin, end.
class ByteTokenizer : public Tokenizer {
 public:
  Tokens encode(std::string_view line) const override;
  /// Sequences that are not UTF-8, as an untrained model writes them, are shown as U+FFFD.
  std::string decode(std::span<const Token> tokens) const override;
  /// ASCII as it is, other bytes as <0xE4>.
  std::string piece(Token token) const override;

  int64_t size() const override { return 258; }
  Token begin() const override { return 256; }
  Token end() const override { return 257; }
  Token line_end() const override { return '\n'; }
  std::string kind() const override { return choice_name(TokenizerKind::bytes); }
  std::string serialized() const override;
};

}  // namespace synthesizer
