// Attention to the encoder for texts that begin and end at different times; see SlotCache.

#include <ATen/ATen.h>

#include <algorithm>

#include "attention/heads.h"
#include "attention/kernel/attend_slots.h"
#include "model/cross_attention.h"

namespace synthesizer {

void MemorySlots::put(const std::vector<int64_t>& slots, const at::Tensor& encoded,
                      const std::vector<int64_t>& lengths) {
  const PackedRows packed(at::tensor(at::ArrayRef<int64_t>(lengths), at::kLong), encoded.size(1));
  const Memory made = owner_->project_memory(packed.pack(encoded).unsqueeze(0), {});  // 1×H×N×K
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  const int64_t capacity = key_.defined() ? key_.size(1) : 0;
  const auto count = static_cast<int64_t>(lengths_.size());
  if (longest > capacity) {
    const int64_t larger = std::max(longest, 2 * capacity);
    for (at::Tensor* cache : {&key_, &value_}) {
      auto grown = at::empty({count, larger, made.key.size(1), made.key.size(3)}, made.key.options());
      if (capacity > 0) grown.narrow(1, 0, capacity).copy_(*cache);
      *cache = grown;
    }
  }
  int64_t begin = 0;
  for (size_t n = 0; n < slots.size(); ++n) {
    lengths_[static_cast<size_t>(slots[n])] = lengths[n];
    auto copy = [&](at::Tensor& cache, const at::Tensor& from) {
      const auto rows = from.select(0, 0).transpose(0, 1).narrow(0, begin, lengths[n]);  // M×H×K
      cache.select(0, slots[n]).narrow(0, 0, lengths[n]).copy_(rows);
    };
    copy(key_, made.key);
    copy(value_, made.value);
    begin += lengths[n];
  }
}

at::Tensor CrossAttention::step_slots(const at::Tensor& x, const MemorySlots& memory,
                                      const SlotRows& rows) const {
  Logits logits;
  logits.query = split_heads(query_->forward(x.unsqueeze(1)), heads_);  // B×H×1×K
  logits.scale = scale_;
  std::vector<int64_t> columns;
  for (const int64_t slot : rows.slots) columns.push_back(memory.length(slot));
  const auto y = attend_slots(logits, memory.keys(), memory.values(), {}, {}, {rows.slots, columns});
  return output_->forward(y).squeeze(1);
}

}  // namespace synthesizer
