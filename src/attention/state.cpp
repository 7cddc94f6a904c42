#include "attention/state.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace synthesizer {

void State::put(at::Tensor& cache, const at::Tensor& next) const {
  const int64_t capacity = cache.defined() ? cache.size(1) : 0;
  if (position_ == capacity) {
    const int64_t larger = std::min(max_length_, std::max<int64_t>(32, 2 * capacity));
    auto grown = at::empty({batch_, larger, next.size(1), next.size(3)}, next.options());
    if (capacity > 0) grown.narrow(1, 0, capacity).copy_(cache);
    cache = grown;
  }
  cache.select(1, position_).copy_(next.squeeze(2));
}

void State::append(const at::Tensor& value, const at::Tensor& key) {
  put(value_, value);
  if (key.defined()) put(key_, key);
  ++position_;
}

at::Tensor State::slide(const at::Tensor& next, int64_t width) {
  const auto newest = next.unsqueeze(1);                                   // B×1×D
  auto seen = window_.defined() ? at::cat({window_, newest}, 1) : newest;  // B×n×D
  const int64_t kept = std::min(seen.size(1), width - 1);
  window_ = seen.narrow(1, seen.size(1) - kept, kept);
  ++position_;
  return seen;
}

at::Tensor State::so_far(const at::Tensor& cache) const {
  return cache.defined() ? cache.narrow(1, 0, position_).transpose(1, 2) : cache;
}

State State::copy() const {
  State other = *this;
  for (at::Tensor* cache : {&other.value_, &other.key_}) {
    if (cache->defined()) *cache = cache->clone();
  }
  return other;
}

at::Tensor State::picked(const at::Tensor& cache, const at::Tensor& indices) const {
  auto sizes = cache.sizes().vec();
  sizes[0] = indices.size(0);
  auto result = at::empty(sizes, cache.options());
  auto filled = result.narrow(1, 0, position_);  // what lies beyond was never written
  at::index_select_out(filled, cache.narrow(1, 0, position_), 0, indices);
  return result;
}

void State::reorder(const at::Tensor& indices) {
  if (indices.dim() != 1 || indices.scalar_type() != at::kLong) {
    invalid("indices to reorder a state by must be a list of int64 numbers");
  }
  const auto flat = indices.cpu().contiguous();
  for (int64_t n = 0; n < flat.size(0); ++n) {
    const int64_t index = flat.const_data_ptr<int64_t>()[n];
    if (index < 0 || index >= batch_) {
      invalid(fmt::format("indices[{}] is {}: it must be from 0 to {}", n, index, batch_ - 1));
    }
  }
  batch_ = indices.size(0);
  for (at::Tensor* cache : {&value_, &key_}) {
    if (cache->defined()) *cache = picked(*cache, indices.to(cache->device()));
  }
  if (window_.defined()) window_ = window_.index_select(0, indices.to(window_.device()));
}

}  // namespace synthesizer
