#include "model/norm.h"

#include <ATen/ATen.h>

namespace synthesizer {

Norm::Norm(const ModelOptions& o)
    : rms_(o.norm == NormKind::rms),
      epsilon_(o.norm_epsilon),
      weight_(declare("weight", Role::norm, at::ones({o.width}))) {
  if (o.bias && !rms_) bias_ = declare({"bias", Role::norm, {o.width}, Init::zero()});
}

at::Tensor Norm::forward(const at::Tensor& x) const {
  if (rms_) return at::rms_norm(x, weight_.sizes(), weight_.to(x.scalar_type()), epsilon_);
  return at::layer_norm(x, weight_.sizes(), weight_, bias_, epsilon_);
}

}  // namespace synthesizer
