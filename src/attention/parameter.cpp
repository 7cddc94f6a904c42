#include "attention/parameter.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numeric>

namespace synthesizer {
namespace {
thread_local bool skip_initialization = false;
}

Init Init::xavier(int64_t fan_in, int64_t fan_out) {
  return {Kind::uniform, std::sqrt(6.0 / static_cast<double>(fan_in + fan_out))};
}

int64_t Parameter::count() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

SkipInitialization::SkipInitialization() : before_(skip_initialization) {
  skip_initialization = true;
}

SkipInitialization::~SkipInitialization() {
  skip_initialization = before_;
}

at::Tensor initialise(const Parameter& parameter, at::ScalarType dtype) {
  if (skip_initialization) return at::empty(parameter.shape, dtype);
  // Drawn in float32 whatever the dtype, so that one seed gives one model in every precision.
  c10::NoGradGuard no_grad;
  auto tensor = at::zeros(parameter.shape, at::kFloat);
  switch (parameter.init.kind) {
    case Init::Kind::zero: break;
    case Init::Kind::normal: tensor.normal_(0.0, parameter.init.spread); break;
    case Init::Kind::uniform: tensor.uniform_(-parameter.init.spread, parameter.init.spread); break;
  }
  return tensor.to(dtype);
}

std::optional<size_t> Weights::number_of(std::string_view name) const {
  for (size_t i = 0; i < declared_->size(); ++i) {
    const std::string& full = (*declared_)[i].name;
    if (full.size() == prefix_.size() + name.size() && full.starts_with(prefix_) && full.ends_with(name))
      return i;
  }
  return std::nullopt;
}

at::Tensor Weights::find(std::string_view name) const {
  const auto number = number_of(name);
  return number ? weights_->tensors[*number] : at::Tensor();
}

MatrixFormPtr Weights::form(std::string_view name) const {
  const auto number = number_of(name);
  return number && !weights_->forms.empty() ? weights_->forms[*number] : MatrixFormPtr();
}

at::Tensor Weights::operator[](std::string_view name) const {
  auto tensor = find(name);
  if (!tensor.defined()) {
    throw std::logic_error(fmt::format("no parameter '{}{}' was declared", prefix_, name));
  }
  return tensor;
}

Weights Weights::with_prefix(std::string_view prefix) const {
  return {*declared_, *weights_, prefix_ + std::string(prefix)};
}

}  // namespace synthesizer
