#include "attention/slots.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace synthesizer {

int64_t SlotRows::longest() const {
  return positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end()) + 1;
}

at::Tensor SlotRows::position_tensor() const {
  return at::tensor(at::ArrayRef<int64_t>(positions), at::kLong);
}

void SlotCache::store(at::Tensor& cache, const SlotRows& rows, const at::Tensor& next) const {
  const int64_t capacity = cache.defined() ? cache.size(1) : 0, needed = rows.longest();
  if (needed > capacity) {
    const int64_t larger = std::min(max_length_, std::max({int64_t{32}, 2 * capacity, needed}));
    auto grown = at::empty({slots_, larger, next.size(1), next.size(3)}, next.options());
    if (capacity > 0) grown.narrow(1, 0, capacity).copy_(cache);
    cache = grown;
  }
  const auto flat = next.squeeze(2).contiguous();  // B×H×K
  const int64_t width = flat.size(1) * flat.size(2);
  const float* from = flat.const_data_ptr<float>();
  float* to = cache.data_ptr<float>();
  for (size_t b = 0; b < rows.slots.size(); ++b, from += width)
    std::copy_n(from, width, to + rows.slots[b] * cache.stride(0) + rows.positions[b] * cache.stride(1));
}

void SlotCache::put(const SlotRows& rows, const at::Tensor& value, const at::Tensor& key) {
  store(value_, rows, value);
  if (key.defined()) store(key_, rows, key);
}

void SlotCache::put_input(const SlotRows& rows, const at::Tensor& input, int64_t width) {
  const int64_t size = input.size(1);
  if (!inputs_.defined()) inputs_ = at::zeros({slots_, width, size}, input.options());
  const auto flat = input.contiguous();
  const float* from = flat.const_data_ptr<float>();
  for (size_t b = 0; b < rows.slots.size(); ++b, from += size) {
    float* slot = inputs_.data_ptr<float>() + rows.slots[b] * inputs_.stride(0);
    std::copy_n(from, size, slot + rows.positions[b] % width * size);
  }
}

}  // namespace synthesizer
