#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace synthesizer {

/// The settings of a run as its config.toml has them: "model.width" → "128", in the order of the file. Lists
/// are written as there: ["a.en", "a.de"]; an empty table has no entries.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Throws InvalidInput, "PATH:LINE: …", where the file is missing or is no TOML.
Settings read_settings(const std::string& path);

/// The text of a setting; empty where there is none.
std::string setting(const Settings& settings, const std::string& key);

/// What several runs have in common, and where they part: then a text a run, empty where it has no such
/// setting.
struct SettingsCompared {
  Settings shared;
  std::vector<std::pair<std::string, std::vector<std::string>>> differ;
};
SettingsCompared compare_settings(const std::vector<const Settings*>& runs);

}  // namespace synthesizer
