#include "model/halting.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace synthesizer {
namespace {
thread_local PonderScope* current_ponder_scope = nullptr;
}

void Halting::decide(const at::Tensor& entering) {
  const auto dtype = entering.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto score = (entering.to(dtype) * weight_.to(dtype)).sum(-1, /*keepdim=*/true);
  // In double: sums near a threshold; and a vector's last elements go through another exp, which shows in
  // the last bits of float32: a row would depend on its place in the batch.
  const auto p = (score.to(at::kDouble) + bias_.to(at::kDouble)).sigmoid();
  if (application_ == 0) {
    sum_ = at::zeros_like(p);
    steps_ = at::zeros_like(p).detach();
    remainder_ = at::zeros_like(p);
    running_ = at::ones_like(p, at::kBool);
  }
  const bool last = ++application_ >= most_;
  const auto stops = last ? running_ : running_.logical_and((sum_ + p).gt(threshold_));
  const auto rest = 1 - sum_;
  share_ = at::where(stops, rest, at::where(running_, p, at::zeros_like(p)));
  remainder_ = remainder_ + at::where(stops, rest, at::zeros_like(p));
  sum_ = sum_ + share_;
  steps_ = steps_ + running_;
  was_running_ = running_;
  running_ = running_.logical_and(stops.logical_not());
}

at::Tensor Halting::apply(const at::Tensor& before, const at::Tensor& after) {
  const auto part = after * share_.to(after.scalar_type());
  output_ = output_.defined() ? output_ + part : part;
  return at::where(was_running_, after, before);
}

bool Halting::done() const {
  return !running_.any().item<bool>();
}

PonderScope::PonderScope() : before_(current_ponder_scope) {
  current_ponder_scope = this;
}

PonderScope::~PonderScope() {
  current_ponder_scope = before_;
}

void report_pondering(const Halting& halting, const at::Tensor& lengths) {
  if (!current_ponder_scope) return;
  auto mean = [&](const at::Tensor& of_positions) {  // B×L×1
    const auto numbers = of_positions.squeeze(-1);
    if (!lengths.defined()) return numbers.mean();
    const auto real = at::arange(numbers.size(1), lengths.options()).lt(lengths.unsqueeze(1));  // B×L
    return (numbers * real).sum() / real.sum().clamp_min(1);
  };
  current_ponder_scope->entries_.push_back({mean(halting.cost()), mean(halting.steps()).item<double>()});
}

}  // namespace synthesizer
