#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

#include "attention/frame.h"

namespace synthesizer {

AttentionOptions Frame::grown(int64_t max_length) const {
  if (max_length < options_.max_length) {
    invalid(fmt::format("max_length {} is below the layer's {}: a layer can grow, not shrink", max_length,
                        options_.max_length));
  }
  AttentionOptions larger = options_;
  larger.max_length = max_length;
  // Factorized-dense finds column j by j mod a and j div a: a must stay what it was, b may only grow.
  auto size_of = [&](const char* name) {
    for (const Parameter& parameter : parameters_) {
      if (parameter.name == name) return parameter.shape.back();
    }
    return int64_t{0};
  };
  const int64_t a = size_of("logits.FD.a.weight"), b = size_of("logits.FD.b.weight");
  if (a == 0 || max_length == options_.max_length) return larger;
  if (options_.options.text("tiling", "outer") == "tile") {
    invalid("factorized-dense with tiling = 'tile' cannot grow: its columns would change their meaning");
  }
  larger.options.set("a", a);
  larger.options.set("b", std::max(b, (max_length + a - 1) / a));
  return larger;
}

std::vector<at::Tensor> grow(const Frame& from, const std::vector<at::Tensor>& tensors, const Frame& to) {
  c10::NoGradGuard no_grad;
  std::vector<at::Tensor> grown;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto& old_shape = from.parameters()[i].shape;
    const Parameter& parameter = to.parameters()[i];
    if (parameter.shape == old_shape) {
      grown.push_back(tensors[i].detach().clone());
      continue;
    }
    auto tensor = initialise(parameter, tensors[i].scalar_type()).to(tensors[i].device());
    auto corner = tensor;
    for (size_t d = 0; d < old_shape.size(); ++d) {
      corner = corner.narrow(static_cast<int64_t>(d), 0, old_shape[d]);
    }
    corner.copy_(tensors[i]);
    grown.push_back(tensor);
  }
  return grown;
}

}  // namespace synthesizer
