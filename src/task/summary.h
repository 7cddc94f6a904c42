#pragma once

#include <string>

#include "task/task.h"

namespace synthesizer {

/// What is about to be trained: parameters by part and by group, text, and an estimate of the memory it
/// takes.
std::string summary(Task& task, const Dataset& training, const Dataset* dev, int64_t processes = 1);

}  // namespace synthesizer
