#include "report/compared_settings.h"

#include <algorithm>

namespace synthesizer {

SettingsCompared compare_settings(const std::vector<const Settings*>& runs) {
  // A key that a later run alone has comes after the one that it follows there.
  std::vector<std::string> keys;
  for (const Settings* run : runs) {
    auto behind = keys.begin();
    for (const auto& [key, text] : *run) {
      const auto known = std::find(keys.begin(), keys.end(), key);
      behind = (known == keys.end() ? keys.insert(behind, key) : known) + 1;
    }
  }
  SettingsCompared compared;
  for (const std::string& key : keys) {
    std::vector<std::string> texts;
    bool everywhere = true;
    for (const Settings* run : runs) {
      texts.push_back(setting(*run, key));
      everywhere = everywhere && std::any_of(run->begin(), run->end(),
                                             [&](const auto& entry) { return entry.first == key; });
    }
    const bool equal = std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return t == texts[0]; });
    if (equal && everywhere) {
      compared.shared.emplace_back(key, texts[0]);
    } else {
      compared.differ.emplace_back(key, std::move(texts));
    }
  }
  return compared;
}

}  // namespace synthesizer
