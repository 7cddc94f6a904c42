#pragma once

#include <functional>
#include <memory>
#include <stdexcept>

#include "text/batch.h"
#include "train/loss.h"
#include "train/optimizer.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// What a step saw, summed over its batches.
struct StepSums {
  double loss = 0, nll = 0;
  int64_t tokens = 0, correct = 0;
  double gradient_norm = 0;  ///< of the mean over tokens, before it is clipped
  double waited = 0;         ///< seconds, for batches
};

/// Thrown where a loss or a gradient is not a finite number, before it has changed anything.
struct NotFinite : std::runtime_error {
  NotFinite(const char* what, Batch of) : std::runtime_error(what), batch(std::move(of)) {}
  Batch batch;
};

/// One step of training: the gradients of some batches, clipped, and what the optimizer makes of them. What
/// dropout drops is a function of the batch's number and the seed.
class Stepper {
 public:
  using Loss = std::function<LossSum(const Batch&)>;
  /// The model must outlive it. `width`: of the model, for the noam schedule.
  Stepper(torch::nn::Module& model, const TrainOptions& options, int64_t width, uint64_t seed, Loss loss);

  /// Step `number`, counted from 1, over `accumulate` batches.
  StepSums step(int64_t number, const std::function<Batch()>& next);
  LossSum forward(const Batch& batch) const;
  Optimizer& optimizer() { return *optimizer_; }

 private:
  /// Of the gradients, which are sums over the tokens.
  double gradient_norm() const;

  torch::nn::Module& model_;
  TrainOptions options_;
  int64_t width_;
  uint64_t seed_;
  Loss loss_;
  NamedTensors parameters_;
  std::unique_ptr<Optimizer> optimizer_;
};

}  // namespace synthesizer
