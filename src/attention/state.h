#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// The decoding state of one layer. Attention: the values of all positions so far, and their keys where a
/// member of the mixture uses them; capacity grows by doubling. Convolutions: the last inputs only, a window
/// of fixed size.
class State {
 public:
  /// `owner`: the layer (Mixer) that created the state; no other layer may use it.
  State(int64_t batch, int64_t max_length, const void* owner)
      : batch_(batch), max_length_(max_length), owner_(owner) {}

  int64_t batch() const { return batch_; }
  int64_t position() const { return position_; }  ///< how many tokens there were
  const void* owner() const { return owner_; }

  /// Both B×H×1×K of the next position; an undefined key where none is needed.
  void append(const at::Tensor& value, const at::Tensor& key);

  at::Tensor values() const { return so_far(value_); }  ///< B×H×position×K
  at::Tensor keys() const { return so_far(key_); }      ///< the same, or undefined

  /// The last `width` inputs with `next` (B×D) as the newest, or all where there were fewer: B×n×D. Of these
  /// width - 1 are remembered.
  at::Tensor slide(const at::Tensor& next, int64_t width);
  at::Tensor window() const { return window_; }  ///< B×n×D, what slide remembers, or undefined

  /// Row n becomes the former row indices[n] (int64): selects and reorders beams.
  void reorder(const at::Tensor& indices);

  /// An independent copy. (The copy constructor shares memory.)
  State copy() const;

 private:
  void put(at::Tensor& cache, const at::Tensor& next) const;
  at::Tensor so_far(const at::Tensor& cache) const;
  /// These rows of a cache, with the same capacity.
  at::Tensor picked(const at::Tensor& cache, const at::Tensor& indices) const;

  int64_t batch_, max_length_, position_ = 0;
  const void* owner_;
  at::Tensor value_, key_;  ///< B×capacity×H×K
  at::Tensor window_;       ///< never written into: copies may share it
};

}  // namespace synthesizer
