#pragma once

#include "text/symbol_file.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// Every code point of the training text is a token, in the order of their numbers after the special ones.
/// The line break is always among them, so that a running text can be learnt with its lines.
class CharacterTokenizer : public Tokenizer {
 public:
  /// `vocabulary` > 0: only the most frequent, that many tokens with the special ones and the line break.
  static CharacterTokenizer train(int64_t vocabulary, const LineSource& lines);
  static CharacterTokenizer parse(SymbolFile file);

  Tokens encode(std::string_view line) const override;
  /// What was unknown is shown as U+FFFD.
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override;
  Token begin() const override;
  Token end() const override;
  Token unknown() const override;
  Token line_end() const override { return token('\n'); }
  std::string kind() const override { return choice_name(TokenizerKind::characters); }
  std::string serialized() const override { return write_symbols(kind(), symbols_); }

 private:
  /// One character each, ascending.
  explicit CharacterTokenizer(std::vector<std::string> symbols);
  Token token(char32_t code) const;

  std::vector<std::string> symbols_;
  Tokens token_of_;  ///< by code point, as far as the vocabulary goes
};

}  // namespace synthesizer
