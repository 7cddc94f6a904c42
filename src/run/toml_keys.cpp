#include "run/toml_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"

namespace synthesizer {
namespace {

constexpr int kMostParts = 16;

/// The length of the part of a key that the text begins with, bare or in quotes; 0 where there is none.
size_t part_length(std::string_view text) {
  const char first = text.front();
  if (first == '"' || first == '\'') {
    size_t end = 1;
    while (end < text.size() && text[end] != first && text[end] != '\n')
      end += first == '"' && text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  const auto* end = std::find_if_not(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  return static_cast<size_t>(end - text.begin());
}

}  // namespace

void check_toml_keys(const std::string& name, std::string_view text) {
  int parts = 0;
  bool after_part = false;
  for (int64_t line = 1; !text.empty();) {
    const char next = text.front();
    if (const size_t length = part_length(text); length > 0) {
      parts = after_part ? 1 : parts + 1;  // two words without a dot are no key
      after_part = true;
      if (parts > kMostParts)
        invalid(fmt::format("{}:{}: a key has more than {} parts: no setting has", name, line, kMostParts));
      if (text[length - 1] == '\n') ++line;
      text.remove_prefix(length);
      continue;
    }
    if (next == '.' && after_part) {
      after_part = false;
    } else if (next != ' ' && next != '\t') {
      parts = 0;
      after_part = false;
    }
    if (next == '\n') ++line;
    text.remove_prefix(1);
  }
}

}  // namespace synthesizer
