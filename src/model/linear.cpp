#include "model/linear.h"

#include <ATen/ATen.h>

#include "attention/linear_map.h"

namespace synthesizer {

Linear::Linear(int64_t in, int64_t out, bool bias)
    : weight_(declare({"weight", Role::matrix, {out, in}, Init::xavier(in, out)})) {
  if (bias) bias_ = declare({"bias", Role::bias, {out}, Init::zero()});
}

at::Tensor Linear::forward(const at::Tensor& x) const {
  return linear_map(x, weight_, bias_, form_);
}

}  // namespace synthesizer
