#pragma once

#include <string>
#include <vector>

#include "task/run.h"

namespace synthesizer {

/// Throws InvalidInput where there is something already where a new run is to be made.
void check_free(const std::string& folder);

/// Where weights were made from those of another run, in one go and not by training.
struct MadeFrom {
  std::string how;  ///< "convert", "grow"
  std::string run;  ///< the other one
  std::vector<std::string> command;
};

/// Writes a complete run: recipe, tokenizers, weights, how they came to be, and what dev says about them
/// where `dev` is not empty. Training goes on from it with train.init_from.
void write_new_run(const std::string& folder, Task& task, const MadeFrom& from, const Scores& dev);

/// Whether the run was made so: training never started it, so there is no start to compare it with.
bool made_from_another(const RunFolder& folder);

}  // namespace synthesizer
