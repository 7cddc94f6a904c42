#include "task/initial_weights.h"

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "model/prepare.h"
#include "run/run_folder.h"
#include "task/registry.h"
#include "train/checkpoint.h"

namespace synthesizer {

std::unique_ptr<Task> initial_task(const Recipe& recipe, Tokenizers tokenizers) {
  at::manual_seed(static_cast<uint64_t>(recipe.seed));
  return find_task(recipe.task).make(recipe, std::move(tokenizers));
}

void load_initial_weights(Task& task) {
  const std::string& from = task.recipe().train.init_from;
  if (from.empty()) return;
  load_weights(RunFolder{from}.model(), task.model());
  check_not_quantized(task.model(), from);
}

}  // namespace synthesizer
