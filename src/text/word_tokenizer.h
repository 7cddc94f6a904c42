#pragma once

#include <unordered_map>

#include "text/symbol_file.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// White-space separated words, the most frequent first, after the special tokens. The word <unk>, as texts
/// such as the Penn Treebank have it, is the unknown word itself.
class WordTokenizer : public Tokenizer {
 public:
  /// `vocabulary` > 0: only that many tokens, the special ones included; 0: every word.
  static WordTokenizer train(int64_t vocabulary, const LineSource& lines);
  static WordTokenizer parse(SymbolFile file);

  Tokens encode(std::string_view line) const override;
  /// Joined with single spaces.
  std::string decode(std::span<const Token> tokens) const override;
  std::string piece(Token token) const override;

  int64_t size() const override;
  Token begin() const override;
  Token end() const override;
  Token unknown() const override;
  std::string kind() const override { return choice_name(TokenizerKind::words); }
  std::string serialized() const override { return write_symbols(kind(), words_); }

  WordTokenizer(WordTokenizer&&) = default;
  WordTokenizer& operator=(WordTokenizer&&) = default;

 private:
  explicit WordTokenizer(std::vector<std::string> words);

  std::vector<std::string> words_;
  std::unordered_map<std::string_view, Token> token_of_;  ///< its keys are views of words_
};

}  // namespace synthesizer
