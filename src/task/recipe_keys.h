#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/choice.h"
#include "task/recipe.h"

namespace synthesizer {

/// One key of a recipe: its name, where its value is, and what it means. Reading, writing, explaining and
/// comparing recipes all go over this one list.
struct Key {
  using Value = std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*, OptionMap*,
                             ChoiceReference>;
  std::string name;  ///< "train.steps"
  Value value;
  std::string help;
  bool free_on_resume = false;  ///< may change when a run is taken up again
};

std::vector<Key> keys_of(Recipe& recipe);

/// The value as TOML: 12, 0.5, true, "text", ["a", "b"].
std::string toml_value(const Key::Value& value);

}  // namespace synthesizer
