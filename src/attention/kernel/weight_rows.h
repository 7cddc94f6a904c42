#pragma once

#include <hwy/aligned_allocator.h>

#include <vector>

#include "attention/kernel/operands.h"

namespace synthesizer::kernel {

/// Writes softmax(S) of a head, rows [begin, end), to `to`, which has as many rows. `columns` holds what the
/// head's columns bring to S. All weights of a row are NaN or none is, as of PyTorch's softmax.
void make_weights(const Operands& operands, const Operands::Columns& columns, bool causal, int64_t begin,
                  int64_t end, const Matrix& to);

/// Rows of the global weights P of one head, in memory of one thread: computed (or taken where they are
/// ready), used for the whole batch, and overwritten by the next ones.
class WeightRows {
 public:
  /// `most`: how many rows there will be at a time. `ready`: weights H×L×M made earlier, or undefined.
  WeightRows(const Problem& problem, const Operands& operands, int64_t most, at::Tensor ready = {});

  /// How many rows are worked on at a time: as many as fit a cache, whole tiles of them.
  static int64_t block_rows(const Problem& problem);

  /// Rows [begin, end) of head h.
  void make(int64_t h, int64_t begin, int64_t end);

  const Matrix& weights() const { return weights_; }  ///< (end - begin)×M
  const Matrix& dropped() const { return dropped_; }  ///< after dropout; one mask for the whole batch

  /// s_i = Σ_{j<n} P_ij for row i of all, where sample b has n columns: a prefix sum, 1 without column
  /// lengths.
  float sum(int64_t b, int64_t i) const {
    return any_sums_ ? sums_[(i - begin_) * distinct_.size() + index_[b]] : 1.0f;
  }
  bool any_sums() const { return any_sums_; }
  /// Whether one of the rows is NaN, in all its columns: no part of it is zero then.
  bool diverged() const { return diverged_; }
  /// Whether the sum of the row's weights has underflowed, so that dividing by it would lose all digits, or
  /// is NaN, perhaps because of a column that the sample does not have. Such a row is computed by itself
  /// instead.
  bool underflowed(int64_t b, int64_t i) const { return any_sums_ && !(sum(b, i) >= 1e-12f); }

  /// An underflowed row by itself: softmax over the first n columns, to `row`.
  void make_underflowed_row(int64_t i, int64_t n, float* row) const;

 private:
  void add_up();

  const Problem& p_;
  const Operands& operands_;
  at::Tensor ready_;
  Operands::Columns columns_;
  Matrix weights_, dropped_;
  int64_t stride_, begin_ = 0;
  hwy::AlignedFreeUniquePtr<float[]> own_, own_dropped_;
  bool any_sums_, diverged_ = false;
  std::vector<int64_t> distinct_, index_;  ///< the lengths that occur, and which of them each sample has
  std::vector<float> sums_;                ///< rows × distinct
};

}  // namespace synthesizer::kernel
