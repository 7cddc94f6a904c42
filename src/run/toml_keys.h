#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// Throws InvalidInput, "NAME:LINE: …", where a key of a TOML text has more than 16 parts ("a.b.c" has
/// three). Parsers of TOML, and whatever walks their tables, call themselves once for each part: a long key
/// would take all of the stack.
void check_toml_keys(const std::string& name, std::string_view text);

}  // namespace synthesizer
