#pragma once

#include <cstdint>
#include <string>

#include "task/recipe.h"

namespace synthesizer {

/// What a training would take, found out by a few real steps that are thrown away.
struct DryRun {
  std::string summary;           ///< parameters, data, estimated memory, as a training says it at its start
  std::string unit;              ///< what speeds count: "tok", "ex"
  int64_t measured_steps = 0;    ///< after one to warm up
  double seconds_per_step = 0;   ///< median
  double tokens_per_second = 0;  ///< predicted tokens, or examples
  double peak_memory_bytes = 0;  ///< of this process
  double seconds = 0;            ///< for all steps of the recipe, validations aside
};

/// Everything a training does up to its first steps, and then some of them. Makes no run and leaves no files:
/// text that the cache has not is tokenized into a temporary folder. Throws as train_run does.
DryRun dry_run(const Recipe& recipe);

}  // namespace synthesizer
