#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace synthesizer {

/// The rows of a padded batch that are no padding, one after another: N×D in place of B×L×D. What is computed
/// row by row (projections, feed-forward parts, norms) takes these alone; what combines positions takes the
/// batch again. Both ways are copies with gradients. On the CPU.
class PackedRows {
 public:
  /// `lengths` B, int64, of a batch with rows of that length.
  PackedRows(at::Tensor lengths, int64_t length);

  int64_t length() const { return length_; }
  int64_t count() const { return count_; }  ///< N
  const at::Tensor& lengths() const { return lengths_; }

  at::Tensor pack(const at::Tensor& padded) const;    ///< B×L×D to N×D
  at::Tensor unpack(const at::Tensor& packed) const;  ///< N×D to B×L×D, padding 0

 private:
  at::Tensor lengths_;
  int64_t length_, count_;
};
using PackedRowsPtr = std::shared_ptr<const PackedRows>;

/// For training: the rows of such a batch, or null where there is so little padding (or no lengths at all)
/// that the copies would cost more than they save, and wherever no gradients are wanted.
PackedRowsPtr rows_worth_packing(const at::Tensor& lengths, int64_t length);

}  // namespace synthesizer
