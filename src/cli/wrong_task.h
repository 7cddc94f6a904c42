#pragma once

#include <string>

#include "task/task.h"

namespace synthesizer::cli {

/// Throws InvalidInput: the run is of a task that another command is for, which the message names. `lacks`:
/// what keeps this command from using it, such as "has no classes".
[[noreturn]] void wrong_task(const std::string& run, const Task& task, const std::string& lacks);

}  // namespace synthesizer::cli
