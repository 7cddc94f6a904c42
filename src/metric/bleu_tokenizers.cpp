#include "metric/bleu_tokenizers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

using unicode::Category;

std::string single_spaced(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::string_view word : unicode::split(text)) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

void replace_all(std::string& text, std::string_view old, std::string_view by) {
  for (size_t at = text.find(old); at != text.npos; at = text.find(old, at + by.size())) {
    text.replace(at, old.size(), by);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_point(char c) {
  return c == '.' || c == ',';
}

/// ASCII punctuation but for the apostrophe, comma, dash and period.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// One substitution over the whole text, as a regular expression of two characters makes it: where both fit
/// they are taken together, otherwise the first passes.
template <class Text, class First, class Second, class Write>
Text substitute(const Text& text, First first, Second second, Write write) {
  Text result;
  result.reserve(text.size() + text.size() / 2);
  size_t at = 0;
  while (at < text.size()) {
    if (at + 1 < text.size() && first(text[at]) && second(text[at + 1])) {
      write(result, text[at], text[at + 1]);
      at += 2;
    } else {
      result += text[at++];
    }
  }
  return result;
}

/// Every character that fits, between spaces.
template <class Text, class Fits>
Text set_apart(const Text& text, Fits fits) {
  Text result;
  result.reserve(text.size() + text.size() / 2);
  for (auto c : text) {
    if (fits(c)) {
      ((result += ' ') += c) += ' ';
    } else {
      result += c;
    }
  }
  return result;
}

// "ab" as "a b " and as " a b": what the substitutions put for two characters.
constexpr auto kSecondApart = [](auto& text, auto a, auto b) { (((text += a) += ' ') += b) += ' '; };
constexpr auto kFirstApart = [](auto& text, auto a, auto b) { (((text += ' ') += a) += ' ') += b; };

/// Bytes do for characters here: every one that is looked for is ASCII, and no byte of another looks like it.
std::string tokenize_13a(std::string_view line) {
  std::string text = " ";
  text += line;
  text += ' ';
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  auto is_other = [](char c) { return !is_digit(c); };
  auto is_dash = [](char c) { return c == '-'; };
  text = set_apart(text, stands_alone);
  text = substitute(text, is_other, is_point, kSecondApart);
  text = substitute(text, is_point, is_other, kFirstApart);
  text = substitute(text, is_digit, is_dash, kSecondApart);
  return single_spaced(text);
}

std::string tokenize_characters(std::string_view line) {
  std::string result;
  result.reserve(2 * line.size());
  for (char32_t c : unicode::decode(line)) {
    if (unicode::is_space(c)) continue;
    if (!result.empty()) result += ' ';
    unicode::append(result, c);
  }
  return result;
}

std::string tokenize_international(std::string_view line) {
  auto is_punctuation = [](char32_t c) { return unicode::category(c) == Category::punctuation; };
  auto is_symbol = [](char32_t c) { return unicode::category(c) == Category::symbol; };
  auto is_other = [](char32_t c) { return unicode::category(c) != Category::number; };
  std::u32string text = unicode::decode(line);
  text = substitute(text, is_other, is_punctuation, kSecondApart);
  text = substitute(text, is_punctuation, is_other, kFirstApart);
  text = set_apart(text, is_symbol);
  std::string bytes;
  bytes.reserve(2 * text.size());
  for (char32_t c : text) unicode::append(bytes, c);
  return single_spaced(bytes);
}

}  // namespace

const std::vector<std::string>& bleu_tokenizer_names() {
  static const std::vector<std::string> names = {"13a", "none", "char", "intl"};
  return names;
}

BleuTokenizer bleu_tokenizer(std::string_view name) {
  const auto& names = bleu_tokenizer_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    invalid(fmt::format("no BLEU tokenizer '{}'{} (there are {})", name, did_you_mean(name, names),
                        fmt::join(names, ", ")));
  }
  return static_cast<BleuTokenizer>(found - names.begin());
}

const std::string& name_of(BleuTokenizer tokenizer) {
  return bleu_tokenizer_names()[static_cast<size_t>(tokenizer)];
}

std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::mteval13a: return tokenize_13a(line);
    case BleuTokenizer::none: return single_spaced(line);
    case BleuTokenizer::characters: return tokenize_characters(line);
    case BleuTokenizer::international: return tokenize_international(line);
  }
  return {};
}

}  // namespace synthesizer
