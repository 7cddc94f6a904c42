#pragma once

#include <map>
#include <string>

#include "train/optimizer.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// What the steps since the last line of the log saw: its next line has averages of them, also where the run
/// is stopped and resumed between two lines.
struct IntervalSums {
  double loss = 0, nll = 0, ponder = 0, depth = 0;
  int64_t tokens = 0, correct = 0;
  double gradient_norm = 0;  ///< of the last step
  double waited = 0;         ///< seconds, for batches
  double seconds = 0;        ///< of training, without validations
};

/// Where a run stands. Data order and dropout are functions of the step, so nothing more is needed.
struct TrainerState {
  int64_t step = 0;
  int64_t tokens = 0;  ///< predicted so far
  double seconds = 0;  ///< of training so far
  double best = 0;     ///< the watched score, where best_step > 0
  int64_t best_step = 0;
  int64_t worse = 0;  ///< evaluations since the best one
  IntervalSums interval;
  int64_t step_batches = 0;  ///< batches that a step takes, of all processes
};

/// What a file says about itself beside the step.
using Metadata = std::map<std::string, std::string>;

/// The weights alone: "model.safetensors", checkpoints, averages.
void save_weights(const std::string& path, const torch::nn::Module& model, int64_t step,
                  Metadata metadata = {});

/// By memory map: the model's tensors become the file's. Throws InvalidInput where a tensor is missing, left
/// over or of another shape: the file belongs to another model. `prefix`: read only tensors whose names begin
/// with it.
void load_weights(const std::string& path, torch::nn::Module& model, const std::string& prefix = "");

/// Weights, optimizer and position in one file, so that no kill can come between them. Rank 0 alone calls
/// this and load_state; of a divided optimizer the other processes call send_state and receive_state.
void save_state(const std::string& path, const torch::nn::Module& model, const Optimizer& optimizer,
                const TrainerState& state, Metadata metadata = {});
/// Throws InvalidInput, and changes nothing, where the file belongs to another model or was trained with
/// other parameter groups.
TrainerState load_state(const std::string& path, torch::nn::Module& model, Optimizer& optimizer);

/// What the other processes do while rank 0 saves, or loads, the state of an optimizer that is divided; of
/// others nothing.
void send_state(const Optimizer& optimizer);
void receive_state(Optimizer& optimizer);

/// The batches that a step of that run takes, over all processes; 0 where an earlier version saved it.
int64_t saved_step_batches(const std::string& path);

/// The mean of several files with the same tensors, in double precision.
NamedTensors average_weights(const std::vector<std::string>& paths);

/// What the weights are called in a state file, before their own names.
inline constexpr const char* kModelPrefix = "model.";

}  // namespace synthesizer
