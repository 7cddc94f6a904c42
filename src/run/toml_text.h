#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace synthesizer {

/// A TOML text as a table. Throws InvalidInput, "NAME:LINE: …", where it is not TOML or has keys
/// that check_toml_keys refuses.
toml::table parse_toml(const std::string& name, std::string_view text);

}  // namespace synthesizer
