#pragma once

#include <string>

#include "model/models.h"
#include "task/initial_weights.h"
#include "task/registry.h"
#include "text/tokenizer.h"

namespace synthesizer::testing {

/// Tasks as training would start them, over the letters of one line.
inline Tokenizers letters() {
  const std::shared_ptr<const Tokenizer> one =
      train_tokenizer({TokenizerKind::characters, 0},
                      [](const std::function<void(std::string_view)>& give) { give("abcdefgh "); });
  return {one, one};
}

inline std::unique_ptr<Task> small_task(const std::string& name, const ModelOptions& model) {
  Recipe recipe;
  recipe.task = name;
  recipe.data.labels = {"good", "bad"};
  recipe.data.root = "/";
  recipe.model = model;
  auto task = initial_task(recipe, letters());
  task->model().eval();
  return task;
}

/// An example of that task.
inline std::vector<std::string> fields_of(const Task& task, const std::string& text) {
  if (task.recipe().task == "language-model") return {text};
  return {text, task.recipe().task == "classification" ? "good" : "bad cab"};
}

}  // namespace synthesizer::testing
