#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace synthesizer {

/// The settings of a run as its config.toml has them: "model.width" → "128", in the order of the file. Lists
/// are written as there: ["a.en", "a.de"]; an empty table has no entries.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// `name`: of the file, for messages. Throws InvalidInput, "NAME:LINE: …", where the text is not TOML.
Settings parse_settings(const std::string& name, std::string_view text);
/// The same for a file; throws InvalidInput also where it is missing.
Settings read_settings(const std::string& path);

/// The text of a setting; empty where there is none.
std::string setting(const Settings& settings, const std::string& key);

}  // namespace synthesizer
