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
  bool accept_changed_data = false;             ///< resume although files of the data have changed
  std::vector<std::string> command;             ///< for the record
  std::string title;                            ///< before the progress bar; empty: the attention
  int64_t side_by_side = 1;                     ///< trainings that share the cores and the terminal with this
  std::string note;                             ///< a line below the summary; empty: none
  std::function<void(const std::string&)> say;  ///< the summary before it starts, and remarks
  ProcessGroup* group = nullptr;                ///< the processes that train together; none: this one alone
};

/// Everything between a recipe and a trained run: tokenizers, data, model, loop, and the files that say how
/// it came to be. Nothing is written before the recipe and the data have proved good. Of several processes,
/// rank 0 alone reads and writes the run's folder. Where torchrun has started the processes again, a run that
/// the same command has made is resumed if it has a checkpoint, and otherwise begins anew; that of another
/// command is refused. Throws InvalidInput, naming the other, where another command is at work in the run's
/// folder (run/run_lock.h).
Outcome train_run(const Recipe& recipe, const TrainingOptions& options);

}  // namespace synthesizer
