#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// A vocabulary as readable text:
///
///     synthesizer tokenizer 1 words 2
///     the
///     house
///
/// Format version, kind and number of symbols; then a symbol a line, with \n \r \t \0 and \\ for a line
/// break, carriage return, tab, NUL and backslash. The special tokens are not listed.
struct SymbolFile {
  std::string name;  ///< of the file, for messages
  std::string kind;
  std::vector<std::string> symbols;
};

/// Whether contents claim to be one.
bool is_symbol_file(std::string_view contents);

std::string write_symbols(std::string_view kind, const std::vector<std::string>& symbols);

/// Throws InvalidInput where it is cut off, has a symbol twice, or is otherwise not as it was written.
SymbolFile parse_symbols(std::string_view contents, const std::string& name);

/// Throws InvalidInput: "tokenizer.model is not a tokenizer: …".
[[noreturn]] void no_tokenizer(const std::string& name, const std::string& why);
/// The same with the place of a symbol, counted from 0.
[[noreturn]] void bad_symbol(const std::string& name, size_t index, const std::string& why);

}  // namespace synthesizer
