#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace synthesizer {

/// The rows of one decoding step with slots: row b continues slot `slots[b]`, which has had `positions[b]`
/// tokens so far. A slot occurs at most once.
struct SlotRows {
  std::vector<int64_t> slots, positions;

  int64_t size() const { return static_cast<int64_t>(slots.size()); }
  int64_t longest() const;  ///< the largest position plus one: columns that the step needs
  at::Tensor position_tensor() const;
};

/// What a layer remembers while it decodes texts that begin and end at different times (continuous batching).
/// Each slot holds one text and has its own position; a slot whose text is done is simply used again from
/// position 0. Nothing is copied when texts come and go; memory grows by doubling with the longest text.
///
/// The positions are the caller's: it passes them with every step. One thread at a time.
class SlotCache {
 public:
  SlotCache(int64_t slots, int64_t max_length, const void* owner)
      : slots_(slots), max_length_(max_length), owner_(owner) {}

  int64_t slots() const { return slots_; }
  const void* owner() const { return owner_; }  ///< the layer (Mixer) that started it

  /// Stores value and key of each row, both B×H×1×K, at its slot and position; an undefined key where none is
  /// needed.
  void put(const SlotRows& rows, const at::Tensor& value, const at::Tensor& key);
  at::Tensor values() const { return value_.transpose(1, 2); }  ///< S×H×capacity×K
  at::Tensor keys() const { return key_.defined() ? key_.transpose(1, 2) : key_; }

  /// Convolutions: the last inputs (B×D) of each slot, S×width×D; input t of a text lies at t mod width.
  void put_input(const SlotRows& rows, const at::Tensor& input, int64_t width);
  const at::Tensor& inputs() const { return inputs_; }

  /// The logits of all positions that depend on no token, H×N×N, where the layer has such; set by the layer
  /// when it starts.
  at::Tensor tables;

 private:
  void store(at::Tensor& cache, const SlotRows& rows, const at::Tensor& next) const;

  int64_t slots_, max_length_;
  const void* owner_;
  at::Tensor value_, key_;  ///< S×capacity×H×K
  at::Tensor inputs_;
};

}  // namespace synthesizer
