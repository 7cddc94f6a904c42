#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "text/batch.h"
#include "train/loss.h"
#include "train/optimizer.h"
#include "train/process_group.h"

namespace torch::nn {
class Module;
}

namespace synthesizer {

/// What a step saw, summed over its batches, those of all processes.
struct StepSums {
  double loss = 0, nll = 0, ponder = 0, depth = 0;
  int64_t tokens = 0, correct = 0;
  double gradient_norm = 0;  ///< of the mean over tokens, before it is clipped
  double waited = 0;         ///< seconds, for batches; of this process
  double exchange_wait = 0;  ///< seconds, for sums of gradients after its last one; of this process
  bool stop = false;         ///< one of the processes was asked to stop
};

/// Thrown where a loss or a gradient is not a finite number, before it has changed anything; in all
/// processes.
struct NotFinite : std::runtime_error {
  NotFinite(const char* what, Batch of, bool is_own = true)
      : std::runtime_error(what), batch(std::move(of)), own(is_own) {}
  Batch batch;
  bool own;  ///< false: it was the batch of another process
};

/// One step of training: the gradients of some batches, clipped, and what the optimizer makes of them. What
/// dropout drops is a function of the batch's number and the seed.
class Stepper {
 public:
  using Loss = std::function<LossSum(const Batch&)>;
  /// The model must outlive it. `width`: of the model, for the noam schedule. `group`: the processes that
  /// share the batches of a step; all have the same weights.
  Stepper(torch::nn::Module& model, const TrainOptions& options, int64_t width, uint64_t seed, Loss loss,
          ProcessGroup* group = nullptr);

  /// Step `number`, counted from 1, over `accumulate` batches in each process. `stop`: whether this process
  /// was asked to stop; where one was, all are told.
  StepSums step(int64_t number, const std::function<Batch()>& next, const std::function<bool()>& stop = {});
  LossSum forward(const Batch& batch) const;
  Optimizer& optimizer() { return *optimizer_; }

 private:
  /// Gives the seconds that it waited for other processes when its own gradients were complete.
  double backward(const at::Tensor& loss, bool last);
  /// Over all processes; throws NotFinite in all of them where `bad` is set in one.
  void add_up(StepSums& sums, const std::optional<Batch>& bad) const;
  /// Of the gradients, which are sums over the tokens.
  double gradient_norm() const;

  torch::nn::Module& model_;
  TrainOptions options_;
  int64_t width_;
  uint64_t seed_;
  Loss loss_;
  NamedTensors parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  ProcessGroup* group_;
  std::unique_ptr<GradientSum> gradient_sum_;  ///< made with the first step, when the weights are in place
};

}  // namespace synthesizer
