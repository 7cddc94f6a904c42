#include "train/adafactor.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace synthesizer {
namespace {

constexpr double kTiny = 1e-30;       // keeps a squared gradient above zero
constexpr double kLeastScale = 1e-3;  // of a parameter that is itself near zero
constexpr double kDecayPower = 0.8;   // second moments forget with 1 - step^-0.8

double rms(const at::Tensor& t) {
  return std::sqrt(t.square().mean().item<double>());
}

}  // namespace

Adafactor::Adafactor(ParameterGroups parameters) : Optimizer(std::move(parameters)) {
  for (const NamedTensor& p : trained_.tensors) {
    const at::Tensor& t = p.tensor;
    if (t.dim() < 2) {
      moments_.push_back({{}, {}, at::zeros_like(t)});
    } else {
      auto row = t.sizes().vec(), column = row;
      row.pop_back();
      column.erase(column.end() - 2);
      moments_.push_back({at::zeros(row, t.options()), at::zeros(column, t.options()), {}});
    }
  }
}

at::Tensor Adafactor::update(const at::Tensor& gradient, Moments& m, double decay) const {
  const auto square = gradient.square() + kTiny;
  if (m.entry.defined()) {
    m.entry.mul_(decay).add_(square, 1 - decay);
    return gradient * m.entry.rsqrt();
  }
  m.row.mul_(decay).add_(square.mean(-1), 1 - decay);
  m.column.mul_(decay).add_(square.mean(-2), 1 - decay);
  const auto row = (m.row / m.row.mean(-1, /*keepdim=*/true)).rsqrt().unsqueeze(-1);
  return gradient * row * m.column.rsqrt().unsqueeze(-2);
}

void Adafactor::step(double learning_rate, int64_t step, double scale) {
  c10::NoGradGuard no_grad;
  const double decay = 1 - std::pow(static_cast<double>(step), -kDecayPower);
  for (size_t i = 0; i < moments_.size(); ++i) {
    at::Tensor& parameter = trained_.tensors[i].tensor;
    if (!parameter.grad().defined()) continue;
    auto change = update(parameter.grad() * scale, moments_[i], decay);
    change.div_(std::max(1.0, rms(change)));
    const ParameterGroup& group = trained_.of(i);
    const double rate = learning_rate * group.learning_rate_factor * std::max(kLeastScale, rms(parameter));
    if (group.weight_decay > 0) parameter.mul_(1 - group.weight_decay * rate);
    parameter.add_(change, -rate);
  }
}

NamedTensors Adafactor::state() const {
  NamedTensors state;
  for (size_t i = 0; i < moments_.size(); ++i) {
    const auto& [row, column, entry] = moments_[i];
    const std::string& name = trained_.tensors[i].name;
    if (entry.defined()) {
      state.push_back({name + ".entry", entry});
    } else {
      state.push_back({name + ".row", row});
      state.push_back({name + ".column", column});
    }
  }
  return state;
}

}  // namespace synthesizer
