#pragma once

#include <stdexcept>

#include "compare/planned_run.h"
#include "train/run_processes.h"

namespace synthesizer {

/// A training that ended badly, and has said why on standard error.
struct TrainingFailed : std::runtime_error {
  explicit TrainingFailed(int its_status) : std::runtime_error("a training has failed"), status(its_status) {}
  int status;  ///< of the process
};

/// Trains the runs in their order, `jobs` at a time, skips those that are finished, and takes up those that
/// were interrupted. Each trains in a process of its own, so that its memory is its own and none inherits the
/// threads or the heap of the one before; hence this must run before anything uses LibTorch's threads. Those
/// that run at the same time divide the cores among them.
/// When one of them fails no more are started, and the others that run are waited for. Then one exception
/// says why all that failed did: InvalidInput where a mistake is among the reasons, otherwise
/// std::runtime_error; TrainingFailed where there is nothing left to say. `processes`: each training starts
/// so many, which share its batches.
void train_planned_runs(const std::string& recipe, const std::vector<PlannedRun>& runs, int64_t jobs = 1,
                        const ProcessOptions& processes = {});

}  // namespace synthesizer
