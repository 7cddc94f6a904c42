#include "text/word_tokenizer.h"

#include <algorithm>

#include "text/special_tokens.h"
#include "text/utf8.h"
#include "text/vocabulary_size.h"

namespace synthesizer {
namespace {

/// Lets a map of strings be searched by a view, without a copy for every word of the text.
struct ViewHash {
  using is_transparent = void;
  size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
};

using WordCounts = std::unordered_map<std::string, int64_t, ViewHash, std::equal_to<>>;

WordCounts count_words(const LineSource& lines) {
  WordCounts counts;
  lines([&](std::string_view line) {
    for (std::string_view word : split_words(line)) {
      if (const auto found = counts.find(word); found != counts.end()) {
        ++found->second;
      } else if (first_invalid_byte(word) == std::string_view::npos) {
        counts.emplace(word, 1);
      }
    }
  });
  return counts;
}

}  // namespace

WordTokenizer WordTokenizer::train(int64_t vocabulary, const LineSource& lines) {
  WordCounts counts = count_words(lines);
  counts.erase(kSpecialNames[kUnknown]);
  if (counts.empty()) no_text();
  const int64_t most = kSpecials + static_cast<int64_t>(counts.size());
  if (vocabulary > most) vocabulary_too_large(vocabulary, most);
  if (vocabulary != 0 && vocabulary <= kSpecials) vocabulary_too_small(vocabulary, kSpecials + 1);

  std::vector<std::pair<std::string, int64_t>> ranked(counts.begin(), counts.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (vocabulary != 0) ranked.resize(static_cast<size_t>(vocabulary - kSpecials));
  std::vector<std::string> words;
  words.reserve(ranked.size());
  for (auto& [word, count] : ranked) words.push_back(std::move(word));
  return WordTokenizer(std::move(words));
}

WordTokenizer WordTokenizer::parse(SymbolFile file) {
  for (size_t i = 0; i < file.symbols.size(); ++i) {
    const auto parts = split_words(file.symbols[i]);
    if (parts.size() != 1 || parts[0] != file.symbols[i]) bad_symbol(file.name, i, "is not one word");
    if (parts[0] == kSpecialNames[kUnknown]) bad_symbol(file.name, i, "lists <unk>, which is always there");
  }
  return WordTokenizer(std::move(file.symbols));
}

WordTokenizer::WordTokenizer(std::vector<std::string> words) : words_(std::move(words)) {
  token_of_.reserve(words_.size() + 1);
  token_of_.emplace(kSpecialNames[kUnknown], kUnknown);
  Token next = kSpecials;
  for (const auto& word : words_) token_of_.emplace(word, next++);
}

int64_t WordTokenizer::size() const {
  return kSpecials + static_cast<int64_t>(words_.size());
}
Token WordTokenizer::begin() const {
  return kBegin;
}
Token WordTokenizer::end() const {
  return kEnd;
}

Token WordTokenizer::unknown() const {
  return kUnknown;
}

Tokens WordTokenizer::encode(std::string_view line) const {
  Tokens tokens;
  for (std::string_view word : split_words(line)) {
    const auto found = token_of_.find(word);
    tokens.push_back(found != token_of_.end() ? found->second : kUnknown);
  }
  return tokens;
}

std::string WordTokenizer::decode(std::span<const Token> tokens) const {
  std::string text;
  for (Token token : tokens) {
    check_token(token, size());
    if (token < 0 || token == kBegin || token == kEnd) continue;
    if (!text.empty()) text += ' ';
    text += token == kUnknown ? kSpecialNames[kUnknown] : words_[static_cast<size_t>(token - kSpecials)];
  }
  return text;
}

std::string WordTokenizer::piece(Token token) const {
  check_token(token, size());
  if (token < 0) return "";
  return token < kSpecials ? kSpecialNames[token] : words_[static_cast<size_t>(token - kSpecials)];
}

}  // namespace synthesizer
