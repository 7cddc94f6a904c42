#include "train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "train/adafactor.h"

namespace synthesizer {
namespace {

using Fused = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                       at::TensorList, double, double, double, double, double, bool, bool,
                       const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);
constexpr Fused adam = at::_fused_adam_, adamw = at::_fused_adamw_;

/// Adam (weight decay inside the gradient) and AdamW (beside it).
class Adam : public Optimizer {
 public:
  Adam(const TrainOptions& options, ParameterGroups parameters)
      : Optimizer(std::move(parameters)), options_(options) {
    for (const NamedTensor& p : trained_.tensors) {
      first_.push_back(at::zeros_like(p.tensor));
      second_.push_back(at::zeros_like(p.tensor));
      state_.push_back({p.name + ".first", first_.back()});
      state_.push_back({p.name + ".second", second_.back()});
    }
  }

  void step(double learning_rate, int64_t step, double scale) override {
    c10::NoGradGuard no_grad;
    for (size_t group = 0; group < groups().size(); ++group) step_group(group, learning_rate, step, scale);
  }

 private:
  void step_group(size_t group, double learning_rate, int64_t step, double scale) {
    std::vector<at::Tensor> values, gradients, first, second, steps;
    const auto count = at::scalar_tensor(static_cast<double>(step), at::kFloat);
    for (size_t i = 0; i < first_.size(); ++i) {
      const at::Tensor& parameter = trained_.tensors[i].tensor;
      if (trained_.group_of[i] != group || !parameter.grad().defined()) continue;
      values.push_back(parameter);
      gradients.push_back(parameter.grad());
      first.push_back(first_[i]);
      second.push_back(second_[i]);
      steps.push_back(count);
    }
    if (values.empty()) return;
    const auto& o = options_;
    const auto fused = o.optimizer == OptimizerKind::adamw ? adamw : adam;
    const ParameterGroup& g = groups()[group];
    fused(values, gradients, first, second, {}, steps, learning_rate * g.learning_rate_factor, o.beta1,
          o.beta2, g.weight_decay, o.epsilon, /*amsgrad=*/false, /*maximize=*/false,
          scale == 1 ? std::nullopt : std::optional(at::scalar_tensor(1 / scale, at::kFloat)), std::nullopt);
  }

  TrainOptions options_;
  std::vector<at::Tensor> first_, second_;  ///< running means of the gradient and of its square
};

}  // namespace

void Optimizer::put(size_t i, const at::Tensor& values) {
  c10::NoGradGuard no_grad;
  at::Tensor(state_[i].tensor).copy_(values);
}

std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, ParameterGroups parameters) {
  if (options.optimizer == OptimizerKind::adafactor)
    return std::make_unique<Adafactor>(std::move(parameters));
  return std::make_unique<Adam>(options, std::move(parameters));
}

}  // namespace synthesizer
