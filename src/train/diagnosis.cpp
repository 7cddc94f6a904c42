#include "train/diagnosis.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "model/forward_hook.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

bool finite(const at::Tensor& t) {
  return t.isfinite().all().item<bool>();
}

}  // namespace

std::string find_nonfinite_tensor(const torch::nn::Module& model, const std::function<void()>& forward) {
  c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : trained_tensors(model)) {
    if (!finite(tensor)) return fmt::format("the parameter {}", name);
  }
  std::string found;
  {
    const ScopedForwardHook hook([&](const std::string& name, const at::Tensor& output) {
      if (found.empty() && !finite(output)) found = fmt::format("the output of {}", name);
    });
    forward();
  }
  if (!found.empty()) return found;
  for (const auto& [name, tensor] : trained_tensors(model)) {
    if (tensor.grad().defined() && !finite(tensor.grad())) return fmt::format("the gradient of {}", name);
  }
  return "the loss itself";
}

}  // namespace synthesizer
