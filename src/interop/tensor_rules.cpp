#include "interop/tensor_rules.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <map>
#include <stdexcept>

#include "base/error.h"
#include "train/named_tensors.h"

namespace synthesizer {
namespace {

std::string with_number(const std::string& pattern, int64_t number) {
  const size_t at = pattern.find("{}");
  return at == std::string::npos ? pattern : std::string(pattern).replace(at, 2, std::to_string(number));
}

}  // namespace

void add_layers(TensorRules& rules, int64_t layers, const TensorRules& of_one) {
  for (int64_t n = 0; n < layers; ++n) {
    for (const auto& [ours, theirs, change] : of_one)
      rules.push_back({with_number(ours, n), with_number(theirs, n), change});
  }
}

TensorChange transposed() {
  return [](const at::Tensor& tensor) { return tensor.dim() == 2 ? tensor.t() : tensor; };
}

TensorChange times(double factor) {
  return [factor](const at::Tensor& tensor) { return tensor * factor; };
}

TensorChange part_of_columns(int64_t n, int64_t parts) {
  return [=](const at::Tensor& tensor) {
    const int64_t size = tensor.dim() > 0 ? tensor.size(-1) / parts : 0;
    return size == 0 ? tensor : transposed()(tensor.narrow(-1, n * size, size));
  };
}

TensorChange padded(int64_t dimension, int64_t size) {
  return [=](const at::Tensor& tensor) {
    if (tensor.dim() <= dimension || tensor.size(dimension) >= size) return tensor;
    auto shape = tensor.sizes().vec();
    shape[static_cast<size_t>(dimension)] = size - tensor.size(dimension);
    return at::cat({tensor, at::zeros(shape, tensor.options())}, dimension);
  };
}

TensorChange then(TensorChange first, TensorChange second) {
  return [first = std::move(first), second = std::move(second)](const at::Tensor& tensor) {
    return second(first(tensor));
  };
}

void fill_model(torch::nn::Module& model, const TensorRules& rules, ForeignWeights& weights) {
  c10::NoGradGuard no_grad;
  std::map<std::string, const TensorRule*> rule_of;
  for (const TensorRule& rule : rules) rule_of[rule.ours] = &rule;
  for (const NamedTensor& one : saved_tensors(model)) {
    const auto found = rule_of.find(one.name);
    if (found == rule_of.end()) throw std::logic_error("no rule fills " + one.name);
    const TensorRule& rule = *found->second;
    auto tensor = weights.take(rule.theirs);
    if (rule.change) tensor = rule.change(tensor);
    if (tensor.sizes() != one.tensor.sizes()) {
      invalid(
          fmt::format("{}: tensor '{}' does not have the shape that its config.json says ({}, as ours {})",
                      weights.file(), rule.theirs, fmt::join(weights.take(rule.theirs).sizes(), "×"),
                      fmt::join(one.tensor.sizes(), "×")));
    }
    at::Tensor(one.tensor).copy_(tensor);
  }
  const auto left = weights.left_over();
  if (left.empty()) return;
  constexpr size_t kNamed = 3;
  const std::vector<std::string> some(left.begin(), left.begin() + std::min(kNamed, left.size()));
  invalid(fmt::format("{} has {} tensors that this model has no place for: {}{}", weights.file(), left.size(),
                      fmt::join(some, ", "), left.size() > kNamed ? " …" : ""));
}

}  // namespace synthesizer
