#pragma once

#include <torch/nn/module.h>

#include "attention/matrix_form.h"

namespace synthesizer {

/// y = x Wᵀ (+ b), with Glorot's uniform start values and biases of 0.
class Linear : public torch::nn::Module {
 public:
  Linear(int64_t in, int64_t out, bool bias);
  at::Tensor forward(const at::Tensor& x) const;
  const at::Tensor& weight() const { return weight_; }
  SharedForm& form() { return form_; }  ///< what stands for the weight at inference; see prepare.h

 private:
  at::Tensor weight_, bias_;  ///< out×in; undefined where there is none
  SharedForm form_;
};

}  // namespace synthesizer
