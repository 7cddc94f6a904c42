#include "model/sliding_steps.h"

#include <ATen/ATen.h>

#include <limits>

namespace synthesizer {

SlidingSteps::SlidingSteps(Start start, int64_t rows) : start_(std::move(start)), model_(start_(rows)) {}

int64_t SlidingSteps::max_length() const {
  return std::numeric_limits<int64_t>::max();
}

at::Tensor SlidingSteps::step(const at::Tensor& tokens) {
  if (static_cast<int64_t>(seen_.size()) == model_->max_length()) {
    const auto kept = static_cast<std::ptrdiff_t>(seen_.size() / 2);
    seen_.erase(seen_.begin(), seen_.end() - kept);
    model_ = start_(model_->rows());
    for (const at::Tensor& earlier : seen_) model_->step(earlier);
  }
  seen_.push_back(tokens);
  return model_->step(tokens);
}

void SlidingSteps::reorder(const at::Tensor& indices) {
  model_->reorder(indices);
  for (at::Tensor& tokens : seen_) tokens = tokens.index_select(0, indices);
}

}  // namespace synthesizer
