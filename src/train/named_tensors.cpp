#include "train/named_tensors.h"

#include <torch/nn/module.h>

namespace synthesizer {

NamedTensors trained_tensors(const torch::nn::Module& model) {
  NamedTensors tensors;
  for (const auto& item : model.named_parameters()) tensors.push_back({item.key(), item.value()});
  return tensors;
}

NamedTensors saved_tensors(const torch::nn::Module& model) {
  NamedTensors tensors = trained_tensors(model);
  for (const auto& item : model.named_buffers()) tensors.push_back({item.key(), item.value()});
  return tensors;
}

NamedTensors prefixed(const std::string& prefix, NamedTensors tensors) {
  for (NamedTensor& one : tensors) one.name = prefix + one.name;
  return tensors;
}

}  // namespace synthesizer
