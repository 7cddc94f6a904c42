#pragma once

#include <string>
#include <vector>

#include "task/run.h"

namespace synthesizer {

/// Throws InvalidInput where the folder of a new run exists already, or cannot be made.
void check_does_not_exist(const std::string& folder);

/// How a run was derived from another one without training.
struct Derivation {
  std::string how;  ///< "convert", "grow"
  std::string run;  ///< the other one
  std::vector<std::string> command;
};

/// Writes a complete run: recipe, tokenizers, weights, how they came to be, and what dev says about them
/// where `dev` is not empty. Training goes on from it with train.init_from.
void write_new_run(const std::string& folder, Task& task, const Derivation& from, const Scores& dev);

/// Whether the run was derived from another one: it then has no initial weights to compare with.
bool is_derived_run(const RunFolder& folder);

}  // namespace synthesizer
