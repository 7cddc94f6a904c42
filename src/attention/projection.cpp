#include "attention/projection.h"

#include "attention/linear_map.h"

namespace synthesizer {

std::vector<Parameter> projection(const std::string& name, int64_t in, int64_t out, bool bias) {
  std::vector<Parameter> all = {{.name = name + ".weight",
                                 .role = Role::matrix,
                                 .shape = {out, in},
                                 .init = Init::xavier(in, out),
                                 .linear = true}};
  if (bias) all.push_back({name + ".bias", Role::bias, {out}, Init::zero()});
  return all;
}

at::Tensor project(const Weights& weights, const std::string& name, const at::Tensor& x) {
  const std::string matrix = name + ".weight";
  return linear_map(x, weights[matrix], weights.find(name + ".bias"), weights.form(matrix));
}

}  // namespace synthesizer
