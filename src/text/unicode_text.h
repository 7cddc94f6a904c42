#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/unicode_categories.h"

namespace synthesizer::unicode {

/// Text as metrics and tokenizers see it, which were defined by Python programs: a character is a code point,
/// white space, lower case and the categories are Python's.

/// UTF-8 to code points; what is not UTF-8 becomes U+FFFD.
std::u32string decode(std::string_view text);
void append(std::string& text, char32_t character);

bool is_space(char32_t character);        ///< Python's str.isspace
bool is_white_space(char32_t character);  ///< Unicode's property White_Space, which has fewer
Category category(char32_t character);

/// Python's str.lower: a capital at the end of a Greek word becomes ς, İ becomes two characters.
std::string lowercase(std::string_view text);

/// One character by itself, whatever is around it; appended, because İ becomes two.
void append_lowercase(std::u32string& text, char32_t character);
/// The canonical decomposition of one character (NFD): é becomes e and an accent.
void append_decomposed(std::u32string& text, char32_t character);

/// The words between white space; none where there is nothing else.
std::vector<std::string_view> split(std::string_view text);
std::string_view without_trailing_space(std::string_view text);

}  // namespace synthesizer::unicode
