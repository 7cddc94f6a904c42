#include "attention/projection.h"

#include <ATen/ATen.h>

namespace synthesizer {

std::vector<Parameter> projection(const std::string& name, int64_t in, int64_t out, bool bias) {
  std::vector<Parameter> all = {{name + ".weight", {out, in}, Init::xavier(in, out)}};
  if (bias) all.push_back({name + ".bias", {out}, Init::zero()});
  return all;
}

at::Tensor project(const Weights& weights, const std::string& name, const at::Tensor& x) {
  return at::linear(x, weights[name + ".weight"], weights.find(name + ".bias"));
}

}  // namespace synthesizer
