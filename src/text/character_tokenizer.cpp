#include "text/character_tokenizer.h"

#include <algorithm>

#include "text/special_tokens.h"
#include "text/utf8.h"
#include "text/vocabulary_size.h"

namespace synthesizer {

CharacterTokenizer CharacterTokenizer::train(int64_t vocabulary, const LineSource& lines) {
  std::vector<int64_t> counts(0x110000);
  lines([&](std::string_view line) {
    for (std::string_view character : split_characters(line)) {
      if (leading_character(character).valid) ++counts[code_point(character)];
    }
  });
  counts['\n'] = 0;  // counted apart: it is kept however rare it is
  std::vector<char32_t> codes;
  for (char32_t code = 0; code < counts.size(); ++code) {
    if (counts[code] > 0) codes.push_back(code);
  }
  if (codes.empty()) no_text();

  constexpr int64_t kAlways = kSpecials + 1;
  const int64_t most = kAlways + static_cast<int64_t>(codes.size());
  if (vocabulary > most) vocabulary_too_large(vocabulary, most);
  if (vocabulary != 0 && vocabulary <= kAlways) vocabulary_too_small(vocabulary, kAlways + 1);
  if (vocabulary != 0) {
    std::stable_sort(codes.begin(), codes.end(), [&](auto a, auto b) { return counts[a] > counts[b]; });
    codes.resize(static_cast<size_t>(vocabulary - kAlways));
  }
  codes.push_back('\n');
  std::sort(codes.begin(), codes.end());

  std::vector<std::string> symbols;
  symbols.reserve(codes.size());
  for (char32_t code : codes) symbols.push_back(encode_code_point(code));
  return CharacterTokenizer(std::move(symbols));
}

CharacterTokenizer CharacterTokenizer::parse(SymbolFile file) {
  const auto& symbols = file.symbols;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (count_characters(symbols[i]) != 1) bad_symbol(file.name, i, "is not one character");
    // UTF-8 sorts as its code points do.
    if (i > 0 && symbols[i] < symbols[i - 1]) bad_symbol(file.name, i, "is out of order");
  }
  if (!std::binary_search(symbols.begin(), symbols.end(), "\n")) {
    no_tokenizer(file.name, "it has no line break (\\n) among its characters");
  }
  return CharacterTokenizer(std::move(file.symbols));
}

CharacterTokenizer::CharacterTokenizer(std::vector<std::string> symbols)
    : symbols_(std::move(symbols)), token_of_(code_point(symbols_.back()) + 1, kUnknown) {
  Token next = kSpecials;
  for (const auto& symbol : symbols_) token_of_[code_point(symbol)] = next++;
}

int64_t CharacterTokenizer::size() const {
  return kSpecials + static_cast<int64_t>(symbols_.size());
}
Token CharacterTokenizer::begin() const {
  return kBegin;
}
Token CharacterTokenizer::end() const {
  return kEnd;
}

Token CharacterTokenizer::unknown() const {
  return kUnknown;
}

Token CharacterTokenizer::token(char32_t code) const {
  return code < token_of_.size() ? token_of_[code] : kUnknown;
}

Tokens CharacterTokenizer::encode(std::string_view line) const {
  Tokens tokens;
  tokens.reserve(line.size());
  while (!line.empty()) {
    const auto [bytes, valid] = leading_character(line);
    tokens.push_back(valid ? token(code_point(line.substr(0, bytes))) : kUnknown);
    line.remove_prefix(bytes);
  }
  return tokens;
}

std::string CharacterTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  text.reserve(tokens.size());
  for (Token token : tokens) {
    check_token(token, size());
    if (token == kUnknown) text += "\uFFFD";
    if (token >= kSpecials) text += symbols_[static_cast<size_t>(token - kSpecials)];
  }
  return text;
}

std::string CharacterTokenizer::piece(Token token) const {
  check_token(token, size());
  if (token < 0) return "";
  return token < kSpecials ? kSpecialNames[token] : symbols_[static_cast<size_t>(token - kSpecials)];
}

}  // namespace synthesizer
