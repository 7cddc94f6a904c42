#include "interop/simple_yaml.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// One or more hexadecimal digits as a character.
std::string escaped_character(std::string_view digits) {
  char32_t code = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'                     ? c - '0'
                      : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                               : -1;
    if (digit < 0) return "\xEF\xBF\xBD";
    code = code * 16 + static_cast<char32_t>(digit);
  }
  return code < 0x110000 && (code < 0xD800 || code >= 0xE000) ? encode_code_point(code) : "\xEF\xBF\xBD";
}

/// Takes a text in quotes off the begin of `rest`; false where it does not end.
bool take_quoted(std::string_view& rest, std::string& value) {
  const char quote = rest[0];
  for (size_t at = 1; at < rest.size(); ++at) {
    const char c = rest[at];
    if (quote == '\'' && c == '\'' && at + 1 < rest.size() && rest[at + 1] == '\'') {
      value += rest[++at];
    } else if (c == quote) {
      rest.remove_prefix(at + 1);
      return true;
    } else if (quote == '"' && c == '\\' && at + 1 < rest.size()) {
      const char letter = rest[++at];
      const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
      if (digits > 0) {
        value += escaped_character(rest.substr(at + 1, digits));
        at += digits;
      } else {
        value += letter == 'n'   ? '\n'
                 : letter == 't' ? '\t'
                 : letter == 'r' ? '\r'
                 : letter == '0' ? '\0'
                                 : letter;
      }
    } else {
      value += c;
    }
  }
  return false;
}

bool is_quoted(std::string_view text) {
  return text.starts_with('"') || text.starts_with('\'');
}

/// A value of one line: plain, in quotes, or [several, of, them].
std::vector<std::string> values_of(std::string_view text) {
  text = without_blanks(text);
  std::vector<std::string> values;
  if (is_quoted(text)) {
    take_quoted(text, values.emplace_back());
  } else if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    while (!without_blanks(text).empty()) {
      const size_t end = std::min(text.find(','), text.size());
      values.emplace_back(without_blanks(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  } else if (!text.empty()) {
    values.emplace_back(text);
  }
  return values;
}

}  // namespace

SimpleYaml parse_yaml(std::string_view text, const std::string& name) {
  SimpleYaml all;
  std::vector<std::string>* last = nullptr;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.ends_with('\0')) line.remove_suffix(1);  // behind settings that a model holds
    if (line.empty() || line == "---" || line == "..." || line.starts_with('#')) continue;
    auto damaged = [&] { invalid(fmt::format("{}: line {} is neither a key nor a value", name, number)); };
    if (line.starts_with("- ") || line == "-") {
      if (!last) damaged();
      for (std::string& value : values_of(line.substr(1))) last->push_back(std::move(value));
      continue;
    }
    if (line.starts_with('[')) {  // a list in a line of its own
      if (!last || !last->empty()) damaged();
      *last = values_of(line);
      continue;
    }
    std::string key;
    if (is_quoted(line)) {
      if (!take_quoted(line, key) || !line.starts_with(':')) damaged();
      line.remove_prefix(1);
    } else {
      size_t colon = line.rfind(": ");
      if (colon == std::string_view::npos && line.ends_with(':')) colon = line.size() - 1;
      if (colon == std::string_view::npos) damaged();
      key = line.substr(0, colon);
      line.remove_prefix(colon + 1);
    }
    last = &all[key];
    *last = values_of(line);
  }
  return all;
}

}  // namespace synthesizer
