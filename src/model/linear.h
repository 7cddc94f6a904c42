#pragma once

#include "attention/declared_module.h"
#include "attention/matrix_form.h"

namespace synthesizer {

/// y = x Wᵀ (+ b), with Glorot's uniform start values and biases of 0.
class Linear : public DeclaredModule {
 public:
  Linear(int64_t in, int64_t out, bool bias);
  at::Tensor forward(const at::Tensor& x) const;
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  MatrixFormPtr& form() { return form_; }  ///< what stands for the weight at inference; see prepare.h

 private:
  at::Tensor weight_, bias_;  ///< out×in; undefined where there is none
  MatrixFormPtr form_;
};

}  // namespace synthesizer
