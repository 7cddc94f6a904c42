#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace synthesizer {

// Normalising names that users type: letter case and surrounding blanks are ignored.

inline std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

inline std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace synthesizer
