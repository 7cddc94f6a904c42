#include "base/shell_quote.h"

#include <algorithm>

namespace synthesizer {
namespace {

bool means_itself(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter || std::string_view("_-./:=@%+,").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_quoted(std::string_view word) {
  if (word.starts_with("~/") && word.size() > 2) return "~/" + shell_quoted(word.substr(2));
  if (!word.empty() && std::all_of(word.begin(), word.end(), means_itself)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

}  // namespace synthesizer
