#include "train/adafactor.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace synthesizer {
namespace {

constexpr double kTiny = 1e-30;       // keeps a squared gradient above zero
constexpr double kLeastScale = 1e-3;  // of a parameter that is itself near zero
constexpr double kDecayPower = 0.8;   // second moments forget with 1 - step^-0.8

double rms(const at::Tensor& t) {
  return std::sqrt(t.square().mean().item<double>());
}

/// The two largest dimensions in their order, or none where the smaller one is too small to factor.
std::optional<std::pair<int64_t, int64_t>> factored_dimensions(const at::Tensor& t) {
  if (t.dim() < 2) return std::nullopt;
  std::vector<int64_t> order(static_cast<size_t>(t.dim()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return t.size(a) > t.size(b); });
  if (t.size(order[1]) < Adafactor::kLeastFactoredSize) return std::nullopt;
  return std::minmax({order[0], order[1]});
}

}  // namespace

Adafactor::Adafactor(ParameterGroups parameters) : Optimizer(std::move(parameters)) {
  for (const NamedTensor& p : trained_.tensors) {
    const at::Tensor& t = p.tensor;
    const auto dimensions = factored_dimensions(t);
    if (!dimensions) {
      moments_.push_back({{}, {}, at::zeros_like(t)});
      state_.push_back({p.name + ".entry", moments_.back().entry});
      continue;
    }
    const auto [rows, columns] = *dimensions;
    auto row = t.sizes().vec(), column = row;
    row.erase(row.begin() + columns);
    column.erase(column.begin() + rows);
    moments_.push_back({at::zeros(row, t.options()), at::zeros(column, t.options()), {}, rows, columns});
    state_.push_back({p.name + ".row", moments_.back().row});
    state_.push_back({p.name + ".column", moments_.back().column});
  }
}

at::Tensor Adafactor::update(const at::Tensor& gradient, Moments& m, double decay) const {
  const auto square = gradient.square() + kTiny;
  if (m.entry.defined()) {
    m.entry.mul_(decay).add_(square, 1 - decay);
    return gradient * m.entry.rsqrt();
  }
  m.row.mul_(decay).add_(square.mean(m.columns), 1 - decay);
  m.column.mul_(decay).add_(square.mean(m.rows), 1 - decay);
  const auto row = (m.row / m.row.mean(m.rows, /*keepdim=*/true)).rsqrt().unsqueeze(m.columns);
  return gradient * row * m.column.rsqrt().unsqueeze(m.rows);
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

}  // namespace synthesizer
