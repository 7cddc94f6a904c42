#pragma once

#include "task/run.h"

namespace synthesizer {

/// The same model for longer texts: what it has learnt keeps its meaning, so that texts of the old lengths
/// are treated as before; new rows and columns of tables start as training would start them, sinusoidal
/// positions follow their formula, learned ones go on with it. Limits of the data that were those of the
/// model grow with it. Throws InvalidInput where max_length is not above the model's, or a layer cannot grow.
std::unique_ptr<Task> grown_task(Task& task, int64_t max_length);

}  // namespace synthesizer
