#pragma once

#include <torch/nn/module.h>

namespace synthesizer {

/// y = x Wᵀ (+ b), with Glorot's uniform start values and biases of 0.
class Linear : public torch::nn::Module {
 public:
  Linear(int64_t in, int64_t out, bool bias);
  at::Tensor forward(const at::Tensor& x) const;
  const at::Tensor& weight() const { return weight_; }

 private:
  at::Tensor weight_, bias_;  ///< out×in; undefined where there is none
};

}  // namespace synthesizer
