#include "interop/tensor_rules.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "interop/foreign_files.h"

namespace synthesizer {
namespace {

std::string with_number(const std::string& pattern, int64_t number) {
  const size_t at = pattern.find("{}");
  return at == std::string::npos ? pattern : std::string(pattern).replace(at, 2, std::to_string(number));
}

at::Tensor changed(const TensorChange::Function& change, const at::Tensor& tensor) {
  return change ? change(tensor) : tensor;
}

TensorChange::Function in_order(const TensorChange::Function& first, const TensorChange::Function& second) {
  return [=](const at::Tensor& tensor) { return changed(second, changed(first, tensor)); };
}

/// Of a tensor that has the shape of expected_shape().
at::Tensor to_ours(const TensorChange& change, const at::Tensor& theirs) {
  if (change.parts == 1) return changed(change.to_ours, theirs);
  const int64_t size = theirs.size(-1) / change.parts;
  return changed(change.to_ours, theirs.narrow(-1, change.part * size, size));
}

/// The shape of theirs that becomes this one of ours.
TensorChange::Shape expected_shape(const TensorChange& change, TensorChange::Shape ours) {
  auto shape = change.their_shape ? change.their_shape(std::move(ours)) : std::move(ours);
  if (change.parts > 1) shape.back() *= change.parts;
  return shape;
}

/// Our tensor of that name, or the zeros that stand for a bias that the model does not have.
at::Tensor our_tensor(const std::map<std::string, at::Tensor>& ours, const std::string& name) {
  if (const auto found = ours.find(name); found != ours.end()) return found->second;
  const size_t dot = name.rfind('.');
  const auto weight = ours.find(name.substr(0, dot) + ".weight");
  if (name.substr(dot + 1) != "bias" || weight == ours.end()) throw std::logic_error("there is no " + name);
  return at::zeros({weight->second.size(0)});
}

}  // namespace

void add_layers(TensorRules& rules, int64_t layers, const TensorRules& of_one) {
  for (int64_t n = 0; n < layers; ++n) {
    for (const auto& [ours, theirs, change, without_effect] : of_one)
      rules.push_back({with_number(ours, n), with_number(theirs, n), change, without_effect});
  }
}

TensorChange transposed() {
  const auto swap = [](const at::Tensor& tensor) { return tensor.dim() == 2 ? tensor.t() : tensor; };
  return {.to_ours = swap, .to_theirs = swap, .their_shape = [](TensorChange::Shape shape) {
            std::reverse(shape.begin(), shape.end());
            return shape;
          }};
}

TensorChange times(double factor) {
  return {[factor](const at::Tensor& tensor) { return tensor * factor; },
          [factor](const at::Tensor& tensor) { return tensor / factor; }};
}

TensorChange one_row() {
  return {.to_ours = [](const at::Tensor& tensor) { return tensor.flatten(); },
          .to_theirs = [](const at::Tensor& tensor) { return tensor.unsqueeze(0); },
          .their_shape =
              [](TensorChange::Shape shape) {
                shape.insert(shape.begin(), 1);
                return shape;
              }};
}

TensorChange part_of_columns(int64_t n, int64_t parts) {
  TensorChange change = transposed();
  change.part = n;
  change.parts = parts;
  return change;
}

TensorChange padded(int64_t dimension, int64_t from, int64_t size) {
  const auto place = static_cast<size_t>(dimension);
  const auto fill = [=](const at::Tensor& tensor) {
    auto shape = tensor.sizes().vec();
    shape.at(place) = size - from;
    return from == size ? tensor : at::cat({tensor, at::zeros(shape, tensor.options())}, dimension);
  };
  return {.to_ours = fill, .their_shape = [=](TensorChange::Shape shape) {
            shape.at(place) = from;
            return shape;
          }};
}

TensorChange then(const TensorChange& first, const TensorChange& second) {
  TensorChange both = first;
  both.to_ours = in_order(first.to_ours, second.to_ours);
  both.to_theirs = in_order(second.to_theirs, first.to_theirs);
  both.their_shape = [one = first.their_shape, other = second.their_shape](TensorChange::Shape shape) {
    if (other) shape = other(std::move(shape));
    return one ? one(std::move(shape)) : shape;
  };
  return both;
}

void check_shape(const ForeignWeights& weights, const std::string& name, const TensorChange::Shape& shape) {
  const auto found = weights.shape(name);
  if (found == shape) return;
  invalid(fmt::format("{}: tensor '{}' does not have the shape that the settings say: it is {}, not {}",
                      weights.file(), name, fmt::join(found, "×"), fmt::join(shape, "×")));
}

void check_layers(const ForeignWeights& weights, const std::string& tensor, int64_t layers,
                  const TensorChange::Shape& shape, int64_t first) {
  const std::string last = with_number(tensor, first + layers - 1);
  if (!weights.has(last)) {
    invalid(fmt::format("{} has fewer than the {} layers that the settings say: it has no tensor '{}'",
                        weights.file(), layers, last));
  }
  check_shape(weights, last, shape);
}

void fill_model(torch::nn::Module& model, const TensorRules& rules, ForeignWeights& weights) {
  c10::NoGradGuard no_grad;
  std::map<std::string, const TensorRule*> rule_of;
  for (const TensorRule& rule : rules) {
    if (rule.without_effect) {
      weights.skip(rule.theirs);
    } else {
      rule_of[rule.ours] = &rule;
    }
  }
  for (const NamedTensor& one : saved_tensors(model)) {
    const auto found = rule_of.find(one.name);
    if (found == rule_of.end()) throw std::logic_error("no rule fills " + one.name);
    const TensorRule& rule = *found->second;
    check_shape(weights, rule.theirs, expected_shape(rule.change, one.tensor.sizes().vec()));
    at::Tensor(one.tensor).copy_(to_ours(rule.change, weights.take(rule.theirs)));
  }
  const auto left = weights.left_over();
  if (left.empty()) return;
  constexpr size_t kNamed = 3;
  std::vector<std::string> some;
  for (size_t n = 0; n < std::min(kNamed, left.size()); ++n) some.push_back(shortened(left[n]));
  invalid(fmt::format("{} has {} tensors that this model has no place for: {}{}", weights.file(), left.size(),
                      fmt::join(some, ", "), left.size() > kNamed ? " …" : ""));
}

NamedTensors foreign_tensors(const NamedTensors& ours, const TensorRules& rules) {
  c10::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> by_name;
  for (const NamedTensor& one : ours) by_name[one.name] = one.tensor.detach().to(at::kFloat);
  std::set<std::string> used;
  std::vector<std::string> names;                           // theirs, in the order of the rules
  std::map<std::string, std::vector<at::Tensor>> parts_of;  // each of them
  for (const TensorRule& rule : rules) {
    auto& parts = parts_of[rule.theirs];
    if (parts.empty()) {
      names.push_back(rule.theirs);
      parts.resize(static_cast<size_t>(rule.change.parts));
    }
    parts[static_cast<size_t>(rule.change.part)] =
        changed(rule.change.to_theirs, our_tensor(by_name, rule.ours));
    used.insert(rule.ours);
  }
  for (const auto& [name, tensor] : by_name) {
    if (!used.contains(name)) throw std::logic_error("no rule writes " + name);
  }
  NamedTensors theirs;
  for (const std::string& name : names) {
    const auto& parts = parts_of[name];
    theirs.push_back({name, parts.size() == 1 ? parts.front() : at::cat(parts, -1)});
  }
  return theirs;
}

}  // namespace synthesizer
