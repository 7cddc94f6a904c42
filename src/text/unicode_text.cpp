#include "text/unicode_text.h"

#include <algorithm>

#include "text/unicode_case.h"
#include "text/unicode_decompositions.h"
#include "text/utf8.h"

namespace synthesizer::unicode {
namespace {

/// The character at `at`, which is moved behind it.
char32_t next_character(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const auto [bytes, valid] = leading_character(text.substr(at));
  at += bytes;
  return valid ? code_point(text.substr(at - bytes, bytes)) : U'\uFFFD';
}

/// The range that holds the character, or null.
template <class Range>
const Range* find(std::span<const Range> ranges, char32_t character) {
  auto range = std::upper_bound(ranges.begin(), ranges.end(), character,
                                [](char32_t c, const Range& r) { return c < r.first; });
  if (range == ranges.begin()) return nullptr;
  --range;
  return character <= range->last ? &*range : nullptr;
}

char32_t lower(char32_t character) {
  const LowerRange* range = find(lower_ranges(), character);
  if (range == nullptr || (character - range->first) % range->step != 0) return character;
  return character + range->by;
}

/// Whether the sigma at `at` ends a word: a letter before it and none behind it, looking through accents,
/// apostrophes and the like.
bool is_final_sigma(const std::u32string& text, size_t at) {
  auto ignorable = [](char32_t c) { return find(ignorable_ranges(), c) != nullptr; };
  auto cased = [](char32_t c) { return find(cased_ranges(), c) != nullptr; };
  size_t before = at, behind = at + 1;
  while (before > 0 && ignorable(text[before - 1])) --before;
  if (before == 0 || !cased(text[before - 1])) return false;
  while (behind < text.size() && ignorable(text[behind])) ++behind;
  return behind == text.size() || !cased(text[behind]);
}

}  // namespace

std::u32string decode(std::string_view text) {
  std::u32string characters;
  characters.reserve(text.size());
  for (size_t at = 0; at < text.size();) characters += next_character(text, at);
  return characters;
}

void append(std::string& text, char32_t character) {
  text += encode_code_point(character);
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_white_space(char32_t c) {
  return is_space(c) && !(c >= 0x1C && c <= 0x1F);
}

void append_lowercase(std::u32string& text, char32_t character) {
  if (character == U'İ') {
    text += U"i\u0307";
  } else {
    text += lower(character);
  }
}

void append_decomposed(std::u32string& text, char32_t character) {
  // Syllables of Korean decompose by a formula (Unicode, section 3.12).
  constexpr char32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
  constexpr char32_t kVowelCount = 21, kTrailingCount = 28,
                     kSyllableCount = 19 * kVowelCount * kTrailingCount;
  if (character >= kSyllables && character < kSyllables + kSyllableCount) {
    const char32_t n = character - kSyllables;
    text.push_back(kLeading + n / (kVowelCount * kTrailingCount));
    text.push_back(kVowels + n % (kVowelCount * kTrailingCount) / kTrailingCount);
    if (n % kTrailingCount != 0) text.push_back(kTrailing + n % kTrailingCount);
    return;
  }
  const auto all = decompositions();
  const auto found = std::lower_bound(all.begin(), all.end(), character,
                                      [](const Decomposition& d, char32_t c) { return d.from < c; });
  if (found == all.end() || found->from != character) {
    text += character;
    return;
  }
  for (const uint32_t part : found->to) {
    if (part != 0) text += static_cast<char32_t>(part);
  }
}

Category category(char32_t character) {
  const CategoryRange* range = find(category_ranges(), character);
  return range == nullptr ? Category::other : range->category;
}

std::string lowercase(std::string_view text) {
  const std::u32string characters = decode(text);
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    if (c < 0x80) {
      result += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (c == U'İ') {
      result += "i\u0307";
    } else if (c == U'Σ' && is_final_sigma(characters, i)) {
      result += "ς";
    } else {
      append(result, lower(c));
    }
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t here = at;
    if (!is_space(next_character(text, at))) continue;
    if (here > begin) words.push_back(text.substr(begin, here - begin));
    begin = at;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

std::string_view without_trailing_space(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size();) {
    if (!is_space(next_character(text, at))) end = at;
  }
  return text.substr(0, end);
}

}  // namespace synthesizer::unicode
