#pragma once

#include <functional>
#include <string>
#include <vector>

#include "task/task.h"

namespace synthesizer {

/// How a recipe is to be run.
struct TrainingOptions {
  std::string folder;  ///< of the run
  bool resume = false;
  std::vector<std::string> command;             ///< for the record
  std::string title;                            ///< before the progress bar; empty: the attention
  std::function<void(const std::string&)> say;  ///< the summary before it starts, and remarks
};

/// Everything between a recipe and a trained run: tokenizers, data, model, loop, and the files that say how
/// it came to be. Nothing is written before the recipe and the data have proved good.
Outcome train_run(const Recipe& recipe, const TrainingOptions& options);

}  // namespace synthesizer
