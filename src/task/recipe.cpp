#include "task/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "run/toml_keys.h"
#include "run/toml_text.h"
#include "task/recipe_keys.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// Where a value was written, for messages: "recipe.toml:12", or "--set".
std::string place(const std::string& source, const toml::node& node) {
  return source == "--set" ? source : fmt::format("{}:{}", source, node.source().begin.line);
}

/// Puts one TOML value where its key wants it.
class Setter {
 public:
  Setter(std::string name, std::string where, const toml::node& node)
      : name_(std::move(name)), where_(std::move(where)), node_(node) {}

  void operator()(bool* v) const { *v = get<bool>("true or false"); }
  void operator()(int64_t* v) const { *v = get<int64_t>("a whole number"); }
  void operator()(double* v) const {
    *v = node_.is_integer() ? static_cast<double>(*node_.value<int64_t>()) : get<double>("a number");
  }
  void operator()(std::string* v) const { *v = get<std::string>("a text in quotes"); }
  void operator()(const ChoiceReference& v) const { v.set(name_, get<std::string>("a text in quotes")); }
  void operator()(std::vector<std::string>* v) const {
    const char* wanted = "a text in quotes, or a list of them";
    if (!node_.is_array()) {
      *v = {get<std::string>(wanted)};
      return;
    }
    v->clear();
    for (const toml::node& entry : *node_.as_array()) {
      if (!entry.is_string()) wrong(wanted);
      v->push_back(*entry.value<std::string>());
    }
  }
  void operator()(OptionMap* v) const {
    if (!node_.is_table()) wrong("a table, such as { rank = 8 }");
    for (const auto& [name, entry] : *node_.as_table()) set_option(*v, std::string(name.str()), entry);
  }
  void set_option(OptionMap& map, const std::string& name, const toml::node& entry) const {
    if (entry.is_boolean()) return map.set(name, *entry.value<bool>());
    if (entry.is_integer()) return map.set(name, *entry.value<int64_t>());
    if (entry.is_floating_point()) return map.set(name, *entry.value<double>());
    if (entry.is_string()) return map.set(name, *entry.value<std::string>());
    wrong("a number, a text, true or false");
  }

 private:
  template <typename T>
  T get(const char* wanted) const {
    const auto value = node_.value_exact<T>();
    if (!value) wrong(wanted);
    return *value;
  }
  [[noreturn]] void wrong(const char* wanted) const {
    invalid(fmt::format("{}: {} must be {}", where_, name_, wanted));
  }

  std::string name_, where_;
  const toml::node& node_;
};

class Reader {
 public:
  explicit Reader(Recipe& recipe) {
    for (Key& key : keys_of(recipe)) keys_.emplace(key.name, std::move(key));
  }

  void read(const toml::table& table, const std::string& source, const std::string& prefix = "") {
    for (const auto& [part, node] : table) {
      const std::string name = prefix + std::string(part.str());
      const auto found = keys_.find(name);
      if (found != keys_.end()) {
        std::visit(Setter(name, place(source, node), node), found->second.value);
      } else if (node.is_table() && !node.as_table()->empty()) {
        read(*node.as_table(), source, name + ".");
      } else {
        unknown(name, place(source, node));
      }
    }
  }

 private:
  [[noreturn]] void unknown(const std::string& name, const std::string& where) const {
    std::vector<std::string> known;
    for (const auto& [key, value] : keys_) known.push_back(key);
    // A key in the wrong section is nearer than its letters say.
    const std::string last = name.substr(name.rfind('.') + 1);
    for (const std::string& key : known) {
      if (key.ends_with("." + last))
        invalid(fmt::format("{}: no key '{}', did you mean '{}'? (synth train --explain lists them)", where,
                            name, key));
    }
    invalid(fmt::format("{}: no key '{}'{} (synth train --explain lists them)", where, name,
                        did_you_mean(name, known)));
  }

  std::map<std::string, Key> keys_;
};

/// "train.steps=100" as a table. A value that is no TOML is a text: `model.attention=R+V`.
toml::table change_table(const std::string& change) {
  const size_t equals = change.find('=');
  if (equals == std::string::npos || equals == 0)
    invalid(fmt::format("--set {}: write KEY=VALUE, as in --set train.steps=100", change));
  const std::string key = change.substr(0, equals), value = change.substr(equals + 1);
  check_toml_keys("--set", change);
  try {
    return toml::parse(fmt::format("{} = {}", key, value));
  } catch (const toml::parse_error&) {
  }
  try {
    toml::table table = toml::parse(fmt::format("{} = 0", key));
    toml::table* owner = &table;
    std::string rest = key;
    for (size_t dot; (dot = rest.find('.')) != std::string::npos; rest.erase(0, dot + 1))
      owner = (*owner)[rest.substr(0, dot)].as_table();
    owner->insert_or_assign(rest, value);
    return table;
  } catch (const toml::parse_error&) {
    invalid(fmt::format("--set {}: '{}' is not a key (synth train --explain lists them)", change, key));
  }
}

/// Every key with its value, "steps = 100", under the heads of their sections; `line` makes the line of it.
template <typename Line>
std::string listing(Recipe recipe, Line line) {
  std::string out, section;
  for (const Key& key : keys_of(recipe)) {
    const size_t dot = key.name.find('.');
    const bool top = dot == std::string::npos;
    const std::string here = top ? "" : key.name.substr(0, dot);
    if (here != section) out += fmt::format("\n[{}]\n", here);
    section = here;
    out +=
        line(fmt::format("{} = {}", top ? key.name : key.name.substr(dot + 1), toml_value(key.value)), key) +
        "\n";
  }
  return out;
}

}  // namespace

Recipe load_recipe(const std::string& path, const std::vector<std::string>& changes) {
  Recipe recipe;
  Reader reader(recipe);
  reader.read(parse_toml(path, read_file(path)), path);
  const fs::path home = fs::absolute(path).parent_path();
  recipe.data.root = (home / recipe.data.root).lexically_normal().string();
  const std::string root = recipe.data.root;
  for (const std::string& change : changes) reader.read(change_table(change), "--set");
  // A folder on the command line is meant from where the user stands.
  if (recipe.data.root != root) recipe.data.root = fs::absolute(recipe.data.root).lexically_normal().string();
  if (!recipe.train.init_from.empty())
    recipe.train.init_from = fs::absolute(recipe.train.init_from).lexically_normal().string();
  check(recipe);
  return recipe;
}

std::string data_path(const Recipe& recipe, const std::string& file) {
  return (fs::path(recipe.data.root) / file).string();
}

std::string to_toml(const Recipe& recipe) {
  return listing(recipe, [](const std::string& setting, const Key&) { return setting; });
}

std::string explain_recipe() {
  return listing({}, [](const std::string& setting, const Key& key) {
    return fmt::format("{:<38} # {}", setting, key.help);
  });
}

std::vector<std::string> differing_keys(const Recipe& now, const Recipe& before) {
  Recipe a = now, b = before;
  const auto keys = keys_of(a), old = keys_of(b);
  // The rest of these schedules does not depend on where it ends: a run may be made longer.
  const bool extensible = now.train.schedule != Schedule::linear && now.train.schedule != Schedule::cosine;
  std::vector<std::string> found;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].free_on_resume || (extensible && keys[i].name == "train.steps")) continue;
    const std::string value = toml_value(keys[i].value), was = toml_value(old[i].value);
    if (value != was) found.push_back(fmt::format("{} ({}, was {})", keys[i].name, value, was));
  }
  return found;
}

}  // namespace synthesizer
