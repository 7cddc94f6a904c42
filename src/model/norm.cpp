#include "model/norm.h"

#include <ATen/ATen.h>

namespace synthesizer {
namespace {
constexpr double kEpsilon = 1e-5;
}

Norm::Norm(NormKind kind, int64_t width, bool bias)
    : rms_(kind == NormKind::rms), weight_(declare("weight", Role::norm, at::ones({width}))) {
  if (bias && !rms_) bias_ = declare({"bias", Role::norm, {width}, Init::zero()});
}

at::Tensor Norm::forward(const at::Tensor& x) const {
  if (rms_) return at::rms_norm(x, weight_.sizes(), weight_.to(x.scalar_type()), kEpsilon);
  return at::layer_norm(x, weight_.sizes(), weight_, bias_, kEpsilon);
}

}  // namespace synthesizer
