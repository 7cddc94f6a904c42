#include "text/word_pieces.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/special_tokens.h"
#include "text/symbol_file.h"
#include "text/unicode_text.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

constexpr std::string_view kWordPieceMagic = "synthesizer word pieces 1\n";
constexpr std::string_view kInsideWord = "##";
/// A longer word is unknown as a whole.
constexpr size_t kLongestWord = 100;

WordPieceModel parse_word_pieces(const std::string& serialized, const std::string& name) {
  try {
    const auto fields = nlohmann::json::parse(serialized.substr(kWordPieceMagic.size()));
    return {.pieces = fields.at("pieces").get<std::vector<std::string>>(),
            .lowercase = fields.at("lowercase").get<bool>(),
            .strip_accents = fields.at("strip_accents").get<bool>(),
            .split_chinese = fields.at("split_chinese").get<bool>(),
            .unknown = fields.at("unknown").get<std::string>(),
            .begin = fields.at("begin").get<std::string>(),
            .end = fields.at("end").get<std::string>(),
            .added = fields.at("added").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception&) {
    no_tokenizer(name, "it is cut off or damaged");
  }
}

/// The blocks of Unicode that BERT takes for Chinese.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_sign(char32_t c) {
  const bool ascii =
      (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  return ascii || unicode::category(c) == unicode::Category::punctuation;
}

}  // namespace

WordPieces::WordPieces(const std::string& serialized, const std::string& name)
    : WordPieces(parse_word_pieces(serialized, name), name) {}

WordPieces::WordPieces(WordPieceModel model, const std::string& name) : model_(std::move(model)) {
  for (size_t n = 0; n < model_.pieces.size(); ++n) {
    if (!model_.pieces[n].empty()) numbers_[model_.pieces[n]] = static_cast<Token>(n);
  }
  auto number_of = [&](const std::string& piece) {
    const auto found = numbers_.find(piece);
    if (found == numbers_.end()) no_tokenizer(name, "its vocabulary has no '" + replace_invalid(piece) + "'");
    return found->second;
  };
  unknown_ = number_of(model_.unknown);
  begin_ = number_of(model_.begin);
  end_ = number_of(model_.end);
  for (const std::string& token : model_.added) added_.emplace_back(token, number_of(token));
}

bool WordPieces::is_serialized(std::string_view contents) {
  return contents.starts_with(kWordPieceMagic);
}

std::string WordPieces::serialized() const {
  const nlohmann::json fields = {{"pieces", model_.pieces},
                                 {"lowercase", model_.lowercase},
                                 {"strip_accents", model_.strip_accents},
                                 {"split_chinese", model_.split_chinese},
                                 {"unknown", model_.unknown},
                                 {"begin", model_.begin},
                                 {"end", model_.end},
                                 {"added", model_.added}};
  return std::string(kWordPieceMagic) + fields.dump() + "\n";
}

std::u32string WordPieces::normalized(std::string_view text) const {
  std::u32string clean;
  for (const char32_t c : unicode::decode(text)) {
    const bool line_or_tab = c == '\t' || c == '\n' || c == '\r';
    if (line_or_tab || unicode::is_white_space(c)) {
      clean += U' ';
    } else if (c != 0 && c != 0xFFFD && unicode::category(c) != unicode::Category::control) {
      const bool apart = model_.split_chinese && is_chinese(c);
      if (apart) clean += U' ';
      clean += c;
      if (apart) clean += U' ';
    }
  }
  std::u32string result;
  if (model_.strip_accents) {
    for (const char32_t c : clean) unicode::append_decomposed(result, c);
    std::erase_if(result, [](char32_t c) { return unicode::category(c) == unicode::Category::mark; });
    clean.swap(result);
  }
  if (!model_.lowercase) return clean;
  result.clear();
  for (const char32_t c : clean) unicode::append_lowercase(result, c);
  return result;
}

void WordPieces::encode_word(const std::u32string& word, Tokens& tokens) const {
  if (word.size() > kLongestWord) return tokens.push_back(unknown_);
  Tokens pieces;
  for (size_t begin = 0; begin < word.size();) {
    size_t end = word.size();
    for (; end > begin; --end) {
      std::string piece(begin > 0 ? kInsideWord : "");
      for (size_t n = begin; n < end; ++n) unicode::append(piece, word[n]);
      const auto found = numbers_.find(piece);
      if (found == numbers_.end()) continue;
      pieces.push_back(found->second);
      break;
    }
    if (end == begin) return tokens.push_back(unknown_);
    begin = end;
  }
  tokens.insert(tokens.end(), pieces.begin(), pieces.end());
}

Tokens WordPieces::encode(std::string_view line) const {
  Tokens tokens;
  auto encode_text = [&](std::string_view text) {
    std::u32string word;
    auto end_word = [&] {
      if (!word.empty()) encode_word(word, tokens);
      word.clear();
    };
    for (const char32_t c : normalized(text)) {
      if (unicode::is_white_space(c)) {
        end_word();
      } else if (is_sign(c)) {
        end_word();
        encode_word({c}, tokens);
      } else {
        word += c;
      }
    }
    end_word();
  };
  split_at_added(line, added_, encode_text, [&](Token token) { tokens.push_back(token); });
  return tokens;
}

std::string WordPieces::decode(std::span<const Token> tokens) const {
  std::string text;
  for (const Token token : tokens) {
    check_token(token, size());
    if (token < 0 || token == begin_ || token == end_) continue;
    const std::string_view piece = model_.pieces[static_cast<size_t>(token)];
    const bool inside = piece.starts_with(kInsideWord);
    if (!inside && !text.empty()) text += ' ';
    text += inside ? piece.substr(kInsideWord.size()) : piece;
  }
  return text;
}

std::string WordPieces::piece(Token token) const {
  check_token(token, size());
  return token < 0 ? "" : model_.pieces[static_cast<size_t>(token)];
}

}  // namespace synthesizer
