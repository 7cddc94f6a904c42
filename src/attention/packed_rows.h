#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace synthesizer {

/// The rows of a padded batch that are no padding, one after another: N×D in place of B×L×D. What is computed
/// row by row (projections, feed-forward parts, norms) takes these alone; what combines positions takes the
/// batch again. Both ways are copies with gradients. On the CPU.
class PackedRows {
 public:
  enum class Bits {
    any,    ///< results are those of each sample alone, up to rounding
    alone,  ///< each sample gets exactly the bits that it has alone; no gradients
  };

  /// `lengths` B, int64, of a batch with rows of that length.
  PackedRows(at::Tensor lengths, int64_t length, Bits bits = Bits::any);

  int64_t length() const { return length_; }
  int64_t count() const { return offsets_.back(); }  ///< N
  const at::Tensor& lengths() const { return lengths_; }
  Bits bits() const { return bits_; }

  at::Tensor pack(const at::Tensor& padded) const;    ///< B×L×D to N×D
  at::Tensor unpack(const at::Tensor& packed) const;  ///< N×D to B×L×D, padding 0

  /// N×D to N×D by function(B×L×D), which is called for neighbours of equal length together.
  at::Tensor for_each_length(const at::Tensor& packed,
                             const std::function<at::Tensor(const at::Tensor&)>& function) const;

 private:
  at::Tensor lengths_;
  int64_t length_;
  std::vector<int64_t> offsets_;  ///< of each sample's first row among the packed ones, and N
  Bits bits_;
};
using PackedRowsPtr = std::shared_ptr<const PackedRows>;

/// For training: the rows of such a batch, or null where there is so little padding (or no lengths at all)
/// that the copies would cost more than they save, and wherever no gradients are wanted.
PackedRowsPtr rows_worth_packing(const at::Tensor& lengths, int64_t length);

}  // namespace synthesizer
