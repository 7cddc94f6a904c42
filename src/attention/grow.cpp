#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "attention/mixer.h"

namespace synthesizer {

AttentionOptions Mixer::grown(int64_t max_length) const {
  if (max_length < options_.max_length) {
    invalid(fmt::format("max_length {} is below the layer's {}: a layer can grow, not shrink", max_length,
                        options_.max_length));
  }
  AttentionOptions larger = options_;
  larger.max_length = max_length;
  if (max_length > options_.max_length) prepare_growth(larger);
  return larger;
}

std::vector<at::Tensor> grow(const Mixer& from, const std::vector<at::Tensor>& tensors, const Mixer& to) {
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
