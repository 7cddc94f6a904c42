#include "text/symbol_file.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_set>

#include "base/error.h"
#include "text/utf8.h"

namespace synthesizer {
namespace {

constexpr std::string_view kMagic = "synthesizer tokenizer ";
constexpr std::string_view kSymbolFileVersion = "1";

/// An escaped character and the letter that stands for it after a backslash.
struct Escape {
  char character, letter;
};
constexpr Escape kEscapes[] = {{'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}, {'\\', '\\'}, {'\0', '0'}};

void append_escaped(std::string& text, std::string_view symbol) {
  for (char c : symbol) {
    char letter = 0;
    for (const auto& escape : kEscapes) {
      if (c == escape.character) letter = escape.letter;
    }
    if (letter != 0) text += '\\';
    text += letter != 0 ? letter : c;
  }
}

/// False where a backslash is followed by no letter of ours.
bool unescape(std::string_view line, std::string& symbol) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      symbol += line[i];
      continue;
    }
    if (++i == line.size()) return false;
    bool known = false;
    for (const auto& escape : kEscapes) {
      if (line[i] != escape.letter) continue;
      symbol += escape.character;
      known = true;
    }
    if (!known) return false;
  }
  return true;
}

/// What stands before `separator`, which is taken off too; all of it where there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const auto taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
}

}  // namespace

void no_tokenizer(const std::string& name, const std::string& why) {
  invalid(fmt::format("{} is not a tokenizer: {}", name, why));
}

void bad_symbol(const std::string& name, size_t index, const std::string& why) {
  no_tokenizer(name, fmt::format("line {} {}", index + 2, why));
}

bool is_symbol_file(std::string_view contents) {
  return contents.starts_with(kMagic);
}

std::string write_symbols(std::string_view kind, const std::vector<std::string>& symbols) {
  std::string text = fmt::format("{}{} {} {}\n", kMagic, kSymbolFileVersion, kind, symbols.size());
  for (const auto& symbol : symbols) {
    append_escaped(text, symbol);
    text += '\n';
  }
  return text;
}

SymbolFile parse_symbols(std::string_view contents, const std::string& name) {
  const std::string_view whole = contents;
  if (!is_symbol_file(contents)) no_tokenizer(name, "its first line is not that of one");
  if (!contents.ends_with('\n')) no_tokenizer(name, "it is cut off: its last line has no end");
  if (first_invalid_byte(contents) != std::string_view::npos) no_tokenizer(name, "it is not UTF-8");
  auto header = take_until(contents, '\n').substr(kMagic.size());
  const auto version = take_until(header, ' '), kind = take_until(header, ' ');
  if (version != kSymbolFileVersion) {
    no_tokenizer(name, fmt::format("it is of version '{}', and this program reads version {}", version,
                                   kSymbolFileVersion));
  }
  size_t count = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), count);
  if (error != std::errc() || end != header.data() + header.size()) {
    no_tokenizer(name, "its first line has no number of symbols");
  }

  SymbolFile file{name, std::string(kind), {}};
  while (!contents.empty()) {
    std::string symbol;
    if (!unescape(take_until(contents, '\n'), symbol)) {
      bad_symbol(name, file.symbols.size(), "has a backslash before an unknown letter");
    }
    file.symbols.push_back(std::move(symbol));
  }
  if (file.symbols.size() != count) {
    no_tokenizer(name, fmt::format("it should have {} symbols and has {}", count, file.symbols.size()));
  }
  std::unordered_set<std::string_view> seen;
  for (size_t i = 0; i < count; ++i) {
    if (!seen.insert(file.symbols[i]).second) bad_symbol(name, i, "repeats a symbol");
  }
  // A tab that is not escaped, a number with zeros before it: a file that somebody changed by mistake.
  if (write_symbols(kind, file.symbols) != whole) no_tokenizer(name, "it is not as this program writes it");
  return file;
}

}  // namespace synthesizer
