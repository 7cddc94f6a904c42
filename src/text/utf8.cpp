#include "text/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace synthesizer {
namespace {

/// How many bytes from `begin` on are ASCII, eight looked at at a time: most text is.
size_t ascii_run(std::string_view text, size_t begin) {
  size_t i = begin;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, text.data() + i, 8);
    if (eight & 0x8080808080808080u) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i - begin;
}

template <typename Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const auto [bytes, valid] = leading_character(text);
    visit(text.substr(0, bytes), valid);
    text.remove_prefix(bytes);
  }
}

}  // namespace

LeadingCharacter leading_character(std::string_view text) {
  // Past the end: 0, which continues no sequence.
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  // The second byte's range is narrower where the sequence would be overlong, a surrogate or too large.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return {1, false};
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {i, false};
  }
  return {length, true};
}

char32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  char32_t code = lead & (0x7Fu >> character.size());
  for (char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return code;
}

std::string encode_code_point(char32_t code) {
  auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

size_t first_invalid_byte(std::string_view text) {
  for (size_t i = ascii_run(text, 0); i < text.size(); i += ascii_run(text, i)) {
    const auto [bytes, valid] = leading_character(text.substr(i));
    if (!valid) return i;
    i += bytes;
  }
  return std::string_view::npos;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  for_each_character(text, [&](std::string_view, bool) { ++count; });
  return count;
}

std::vector<std::string_view> split_characters(std::string_view text) {
  std::vector<std::string_view> characters;
  characters.reserve(text.size());
  for_each_character(text, [&](std::string_view character, bool) { characters.push_back(character); });
  return characters;
}

std::string replace_invalid(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for_each_character(text, [&](std::string_view character, bool valid) {
    shown += valid ? character : std::string_view("\uFFFD");
  });
  return shown;
}

std::vector<std::string_view> split_words(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  for (size_t begin = text.find_first_not_of(kSpace); begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kSpace, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSpace, end);
  }
  return words;
}

}  // namespace synthesizer
