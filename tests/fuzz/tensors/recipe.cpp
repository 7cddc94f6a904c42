#include "task/recipe.h"

#include "fuzz/memory_file.h"
#include "fuzz/targets.h"

namespace synthesizer::fuzz {
namespace {

/// Wrong values are named by their keys, mistakes of the format by the file: any message will do.
bool load(const MemoryFile& file, Recipe& recipe) {
  try {
    recipe = load_recipe(file.path());
    return true;
  } catch (const InvalidInput&) {
    return false;
  }
}

}  // namespace

void run_recipe(std::string_view input) {
  static const MemoryFile file;
  file.write(input);
  Recipe recipe;
  if (!load(file, recipe)) return;
  // A run's config.toml is the recipe again.
  const std::string text = to_toml(recipe);
  file.write(text);
  Recipe again;
  if (!load(file, again)) fault("a recipe is written as one that is refused:\n" + text);
  if (to_toml(again) != text) fault("a recipe is written as another one:\n" + text);
  if (!differing_keys(again, recipe).empty()) fault("a recipe differs from itself");
}

}  // namespace synthesizer::fuzz
