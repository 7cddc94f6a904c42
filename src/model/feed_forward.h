#pragma once

#include <torch/nn/module.h>

#include "model/linear.h"
#include "model/options.h"

namespace synthesizer {

/// The position-wise part of a layer: out(act(in x)), or out(act(gate x) ⊙ in x) where it is gated.
class FeedForward : public torch::nn::Module {
 public:
  explicit FeedForward(const ModelOptions& options);
  at::Tensor forward(const at::Tensor& x) const;

 private:
  Activation activation_;
  double dropout_;
  std::shared_ptr<Linear> in_, gate_, out_;
};

}  // namespace synthesizer
