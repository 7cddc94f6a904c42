#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "run/metrics_log.h"
#include "run/run_folder.h"
#include "text/batches.h"
#include "train/checkpoint.h"
#include "train/loss.h"
#include "train/options.h"
#include "train/process_group.h"

namespace synthesizer {

using Scores = std::vector<std::pair<std::string, double>>;
/// Among scores: says how many there were, not how good they are.
inline bool is_count(const std::string& key) {
  return key == "tokens" || key == "examples";
}

/// What is trained, given by a task.
struct TrainingJob {
  std::string title;        ///< before the progress bar
  bool lines_only = false;  ///< no bar: others write to the same terminal
  torch::nn::Module* model = nullptr;
  const Batches* batches = nullptr;
  /// Called with the step it starts from when all that is to be read has been, before anything is written.
  std::function<void(int64_t step)> on_start;
  std::function<LossSum(const Batch&)> loss;
  std::function<Scores()> validate;      ///< empty: there is nothing to validate on
  std::function<MetricRows()> mixtures;  ///< weights of the members, by layer; empty: there are no mixtures
  std::string watched = "loss";          ///< the score that says which weights are best
  bool higher_is_better = false;
  std::string unit = "tok";  ///< what is predicted, for the speed that people see
  uint64_t seed = 1;
  std::map<std::string, std::string> metadata;  ///< goes into every file of weights
  int64_t width = 0;                            ///< of the model, for the noam schedule
};

/// How a run ended.
struct Outcome {
  enum class End { finished, patience, stopped } end = End::finished;
  TrainerState state;
  Scores last_scores;  ///< of the last validation
};

/// The loop: batches, loss, gradients, optimizer, validation, checkpoints. Which batches a step takes and
/// which units its dropout drops are functions of the step alone, so a resumed run is bit for bit the run
/// that was never stopped, and several processes share the batches of a step without talking about them.
/// `group`: those processes. All start from the weights and the state of rank 0, which alone writes.
Outcome train(const TrainingJob& job, const TrainOptions& options, const RunFolder& folder, bool resume,
              ProcessGroup* group = nullptr);

}  // namespace synthesizer
