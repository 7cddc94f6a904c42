#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/settings.h"

namespace synthesizer {

/// What several runs have in common, and where they part: then a text per run, empty where it has no such
/// setting.
struct SettingsCompared {
  Settings shared;
  std::vector<std::pair<std::string, std::vector<std::string>>> differ;
};
SettingsCompared compare_settings(const std::vector<const Settings*>& runs);

}  // namespace synthesizer
