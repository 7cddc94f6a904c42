#include "run/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "run/toml_text.h"

namespace synthesizer {
namespace {

struct Leaf {
  toml::source_position place;
  std::string key, text;
};

std::string text_of(const toml::node& node) {
  if (const auto* array = node.as_array()) {
    std::vector<std::string> entries;
    for (const toml::node& entry : *array)
      entries.push_back(entry.is_string() ? fmt::format("\"{}\"", text_of(entry)) : text_of(entry));
    return fmt::format("[{}]", fmt::join(entries, ", "));
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  std::ostringstream out;  // a date or a time, which no key of ours has
  out << toml::node_view<const toml::node>(&node);
  return out.str();
}

/// toml++ keeps keys by the alphabet; where they stand in the file is how people know them.
void collect(const toml::table& table, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const auto* inner = node.as_table()) {
      collect(*inner, key + ".", leaves);
    } else {
      leaves.push_back({name.source().begin, key, text_of(node)});
    }
  }
}

}  // namespace

Settings parse_settings(const std::string& name, std::string_view text) {
  std::vector<Leaf> leaves;
  collect(parse_toml(name, text), "", leaves);
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Leaf& a, const Leaf& b) { return a.place < b.place; });
  Settings settings;
  for (Leaf& leaf : leaves) settings.emplace_back(std::move(leaf.key), std::move(leaf.text));
  return settings;
}

Settings read_settings(const std::string& path) {
  return parse_settings(path, read_file(path));
}

std::string setting(const Settings& settings, const std::string& key) {
  const auto found =
      std::find_if(settings.begin(), settings.end(), [&](const auto& entry) { return entry.first == key; });
  return found == settings.end() ? "" : found->second;
}

}  // namespace synthesizer
