#pragma once

#include <memory>

#include "task/task.h"

namespace synthesizer {

// Where training starts, in one place: training begins there, and whoever wants to know how far a run has
// come makes it again.

/// The recipe's task with its model drawn from the recipe's seed, the same at every call.
std::unique_ptr<Task> drawn_task(const Recipe& recipe, Tokenizers tokenizers);

/// Loads the weights of the run that train.init_from names, where it names one.
void take_first_weights(Task& task);

}  // namespace synthesizer
