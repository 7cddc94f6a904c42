#include "inspect/copy_tensors.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/nn/module.h>

#include <map>
#include <string>

#include "train/named_tensors.h"

namespace synthesizer {

void copy_tensors_of_equal_name(const torch::nn::Module& from, torch::nn::Module& to) {
  c10::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> before;
  for (const NamedTensor& one : saved_tensors(from)) before[one.name] = one.tensor;
  for (const NamedTensor& one : saved_tensors(to)) {
    const auto found = before.find(one.name);
    if (found != before.end() && found->second.sizes() == one.tensor.sizes())
      at::Tensor(one.tensor).copy_(found->second);
  }
}

}  // namespace synthesizer
