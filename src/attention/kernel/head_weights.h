#pragma once

#include <ATen/core/Tensor.h>
#include <hwy/aligned_allocator.h>

#include <vector>

#include "attention/kernel/operands.h"

namespace synthesizer::kernel {

/// The table with every row there, H×L×M in float32, rows contiguous.
at::Tensor full_table(const Problem& problem);

/// Writes softmax(table) of one head, rows [begin, end), to the same rows of `to`.
void make_weights(const at::Tensor& table, int64_t h, bool causal, int64_t begin, int64_t end,
                  const Matrix& to);

/// Global weights P of one head at a time, in memory of one thread: made from the table (or taken where they
/// are ready), used for the whole batch, and forgotten.
class HeadWeights {
 public:
  /// `ready`: weights H×L×M made earlier, or undefined.
  HeadWeights(const Problem& problem, const Operands& operands, at::Tensor table, at::Tensor ready);

  /// Rows [begin, end) of head h.
  void make(int64_t h, int64_t begin, int64_t end);

  const Matrix& weights() const { return weights_; }  ///< L×M
  const Matrix& dropped() const { return dropped_; }  ///< after dropout; one mask for the whole batch

  /// s_i = Σ_{j<n} P_ij for the length n of sample b: a prefix sum of the row, 1 without column lengths.
  float sum(int64_t b, int64_t i) const { return any_ ? sums_[i * distinct_.size() + index_[b]] : 1.0f; }
  bool any_sums() const { return any_; }
  /// Too little is left of the row's weight for a quotient to have digits: the row is computed from the
  /// table.
  bool stray(int64_t b, int64_t i) const { return any_ && sum(b, i) < 1e-12f; }

  /// A stray row by itself: softmax over the first n columns, to `row`.
  void make_stray_row(int64_t i, int64_t n, float* row) const;

 private:
  void add_up(int64_t begin, int64_t end);

  const Problem& p_;
  const Operands& operands_;
  at::Tensor table_, ready_;
  Matrix weights_, dropped_;
  hwy::AlignedFreeUniquePtr<float[]> own_, own_dropped_;
  int64_t head_ = -1;
  bool any_;
  std::vector<int64_t> distinct_, index_;  ///< the lengths that occur, and which of them each sample has
  std::vector<float> sums_;                ///< L×distinct
};

}  // namespace synthesizer::kernel
