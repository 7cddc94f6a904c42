#include "model/linear.h"

#include <ATen/ATen.h>

#include "attention/linear_map.h"
#include "attention/parameter.h"

namespace synthesizer {

Linear::Linear(int64_t in, int64_t out, bool bias)
    : weight_(register_parameter("weight", initialise({"weight", {out, in}, Init::xavier(in, out)}))) {
  if (bias) bias_ = register_parameter("bias", at::zeros({out}));
}

at::Tensor Linear::forward(const at::Tensor& x) const {
  return linear_map(x, weight_, bias_, form_);
}

}  // namespace synthesizer
