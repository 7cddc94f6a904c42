#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// The character a text starts with, or what stands in its place: the bytes of a sequence that was begun and
/// not ended as UTF-8 demands (at least one).
struct LeadingCharacter {
  size_t bytes;
  bool valid;
};

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF. The text must not be empty.
LeadingCharacter leading_character(std::string_view text);

/// The number of one valid character.
char32_t code_point(std::string_view character);
/// Its UTF-8.
std::string encode_code_point(char32_t code);

/// Where the first byte stands that is not UTF-8; npos where all is valid.
size_t first_invalid_byte(std::string_view text);

/// Code points. An invalid sequence counts, and is split, as one.
size_t count_characters(std::string_view text);
std::vector<std::string_view> split_characters(std::string_view text);

/// The text with U+FFFD for every invalid sequence, as browsers and Python show it.
std::string replace_invalid(std::string_view text);

/// What stands between runs of ASCII white space.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace synthesizer
