#include "inspect/grow_run.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/nn/module.h>

#include <map>

#include "attention/baselines.h"
#include "base/error.h"
#include "model/layers_of.h"
#include "task/initial_weights.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

/// The options under which a layer's old entries keep their meaning, as options of the whole model.
void take_options(ModelOptions& model, const std::string& name, const AttentionOptions& before,
                  const AttentionOptions& larger) {
  const auto baseline = find_baseline(before.attention);
  for (const auto& [key, value] : larger.options.values()) {
    const auto had = before.options.values().find(key);
    if (had != before.options.values().end() && had->second == value) continue;
    if (baseline && baseline->size && baseline->baseline->size == key)
      continue;  // it stands behind the layer's own name
    const auto set = model.attention_options.values().find(key);
    if (set != model.attention_options.values().end() && had == before.options.values().end() &&
        set->second != value) {
      invalid(
          fmt::format("{} cannot grow: its option '{}' would differ from that of another layer", name, key));
    }
    model.attention_options.set(key, value);
  }
}

Recipe grown_recipe(Task& task, int64_t max_length) {
  Recipe recipe = task.recipe();
  const int64_t before = recipe.model.max_length;
  if (max_length <= before) {
    invalid(fmt::format("--max-length is {}, and the model has {}: give a larger one", max_length, before));
  }
  for (const auto& [name, layer] : layers_of(task.model())) {
    const Mixer& mixer = layer->attention()->mixer();
    take_options(recipe.model, name, mixer.options(), mixer.grown(max_length));
  }
  recipe.model.max_length = max_length;
  recipe.train.init_from.clear();
  for (int64_t* limit : {&recipe.data.max_length, &recipe.data.max_source_length}) {
    if (*limit == before) *limit = max_length;
  }
  check(recipe);
  return recipe;
}

/// The old values into the first corner of the new tensor.
void copy_corner(const at::Tensor& from, at::Tensor to) {
  for (int64_t d = 0; d < from.dim(); ++d) to = to.narrow(d, 0, from.size(d));
  to.copy_(from);
}

}  // namespace

std::unique_ptr<Task> grown_task(Task& task, int64_t max_length) {
  c10::NoGradGuard no_grad;
  auto larger = initial_task(grown_recipe(task, max_length), task.tokenizers());
  std::map<std::string, at::Tensor> before;
  for (const NamedTensor& one : saved_tensors(task.model())) before[one.name] = one.tensor;
  for (const NamedTensor& one : saved_tensors(larger->model())) copy_corner(before.at(one.name), one.tensor);
  larger->model().eval();
  return larger;
}

}  // namespace synthesizer
