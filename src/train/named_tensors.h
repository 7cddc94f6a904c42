#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace torch::nn {
class Module;
}

namespace synthesizer {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};
using NamedTensors = std::vector<NamedTensor>;

/// What is trained, in the order it was made.
NamedTensors trained_tensors(const torch::nn::Module& model);
/// What a model file holds: the trained ones and fixed tables.
NamedTensors saved_tensors(const torch::nn::Module& model);

/// Each with a prefix before its name.
NamedTensors prefixed(const std::string& prefix, NamedTensors tensors);

}  // namespace synthesizer
