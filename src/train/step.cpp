#include "train/step.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/nn/module.h>

#include <chrono>
#include <cmath>

#include "model/stack.h"
#include "text/permutation.h"
#include "train/schedule.h"
#include "train/sharded_optimizer.h"

namespace synthesizer {
namespace {

/// bfloat16 for what autocast lowers, for as long as it lives.
class PrecisionGuard {
 public:
  explicit PrecisionGuard(Precision precision) : on_(precision == Precision::bfloat16) {
    if (!on_) return;
    at::autocast::increment_nesting();
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  }
  ~PrecisionGuard() {
    if (!on_) return;
    at::autocast::set_autocast_enabled(at::kCPU, false);
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  }

 private:
  bool on_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Stepper::Stepper(torch::nn::Module& model, const TrainOptions& options, int64_t width, uint64_t seed,
                 Loss loss, ProcessGroup* group)
    : model_(model),
      options_(options),
      width_(width),
      seed_(seed),
      loss_(std::move(loss)),
      parameters_(trained_tensors(model)),
      optimizer_(group && options.shard_optimizer
                     ? make_sharded_optimizer(options, group_parameters(options, model), *group)
                     : make_optimizer(options, group_parameters(options, model))),
      group_(group) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* stack = module->as<Stack>()) stack->recompute_layers(options.checkpoint_activations);
  }
}

LossSum Stepper::forward(const Batch& batch) const {
  at::manual_seed(combine_seeds(seed_, static_cast<uint64_t>(batch.sequence)));
  const PrecisionGuard precision(options_.precision);
  return loss_(batch);
}

double Stepper::gradient_norm() const {
  std::vector<at::Tensor> gradients;
  for (const auto& [name, tensor] : parameters_) {
    if (tensor.grad().defined()) gradients.push_back(tensor.grad());
  }
  return at::stack(at::_foreach_norm(gradients, 2)).norm().item<double>();
}

double Stepper::backward(const at::Tensor& loss, bool last) {
  if (!group_ || !last) {
    loss.backward();
    return 0;
  }
  if (options_.checkpoint_activations) {
    // c10d's reducer looks for parameters in the graph of the loss, and those of layers that will be computed
    // again are not in it. So nothing is sent before the backward pass has ended.
    loss.backward();
    std::vector<at::Tensor> gradients;
    for (const auto& [name, tensor] : parameters_) {
      if (!tensor.grad().defined()) tensor.mutable_grad() = at::zeros_like(tensor);
      gradients.push_back(tensor.grad());
    }
    const auto begin = std::chrono::steady_clock::now();
    group_->all_reduce_sum(gradients);
    return seconds_since(begin);
  }
  if (!gradient_sum_) {
    std::vector<at::Tensor> tensors;
    for (const NamedTensor& parameter : parameters_) tensors.push_back(parameter.tensor);
    gradient_sum_ = group_->sum_gradients(tensors);
  }
  return gradient_sum_->backward(loss);
}

void Stepper::add_up(StepSums& sums, const std::optional<Batch>& bad) const {
  if (group_) {
    const auto all =
        at::tensor({sums.loss, sums.nll, static_cast<double>(sums.tokens), static_cast<double>(sums.correct),
                    sums.stop ? 1.0 : 0.0, bad ? 1.0 : 0.0, sums.ponder, sums.depth},
                   at::kDouble);
    group_->all_reduce_sum({all});
    const double* sum = all.const_data_ptr<double>();
    sums.loss = sum[0];
    sums.nll = sum[1];
    sums.tokens = static_cast<int64_t>(sum[2]);
    sums.correct = static_cast<int64_t>(sum[3]);
    sums.stop = sum[4] > 0;
    sums.ponder = sum[6];
    sums.depth = sum[7];
    if (!bad && sum[5] > 0) throw NotFinite("loss", {}, false);
  }
  if (bad) throw NotFinite("loss", *bad);
}

StepSums Stepper::step(int64_t number, const std::function<Batch()>& next,
                       const std::function<bool()>& stop) {
  model_.zero_grad();
  StepSums sums;
  Batch batch;
  std::optional<Batch> bad;
  for (int64_t n = 0; n < options_.accumulate; ++n) {
    const auto asked = std::chrono::steady_clock::now();
    batch = next();
    sums.waited += seconds_since(asked);
    const LossSum sum = forward(batch);
    const auto loss = sum.loss.item<double>();
    if (!std::isfinite(loss) && !bad) bad = batch;
    if (bad && !group_) break;
    // The others wait for it, whatever it is.
    sums.exchange_wait += backward(sum.loss, n + 1 == options_.accumulate);
    sums.loss += loss;
    sums.nll += sum.nll;
    sums.tokens += sum.tokens;
    sums.correct += sum.correct;
    sums.ponder += sum.ponder;
    sums.depth += sum.depth;
  }
  sums.stop = stop && stop();
  add_up(sums, bad);
  const double per_token = 1 / static_cast<double>(std::max<int64_t>(sums.tokens, 1));
  const double norm = sums.gradient_norm = gradient_norm() * per_token;
  if (!std::isfinite(norm)) throw NotFinite("gradient", batch);
  const double clipped = options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1;
  optimizer_->step(learning_rate(options_, width_, number), number, per_token * clipped);
  return sums;
}

}  // namespace synthesizer
