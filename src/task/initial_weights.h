#pragma once

#include <memory>

#include "task/task.h"

namespace synthesizer {

// The initial weights of a run: used to start training, and created again to measure how far training has
// moved them.

/// The recipe's task with its model drawn from the recipe's seed, the same at every call.
std::unique_ptr<Task> initial_task(const Recipe& recipe, Tokenizers tokenizers);

/// Loads the weights of the run that train.init_from names, where it names one.
void load_initial_weights(Task& task);

}  // namespace synthesizer
