#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "attention/kernel/operands.h"

namespace synthesizer::kernel {

/// The table with every row there, H×L×M in float32, rows contiguous.
at::Tensor full_table(const Problem& problem);

/// The weights after dropout, one mask for the whole batch; the weights themselves where there is none.
at::Tensor dropped_weights(const Operands& operands, const at::Tensor& weights);

/// s_i = Σ_{j<n} P_ij for the length n of each sample, every row of every head: prefix sums, taken at the
/// lengths that occur. None are needed without padding or with a causal mask: then all are 1.
class LengthSums {
 public:
  LengthSums(const Problem& problem, const at::Tensor& weights);

  bool any() const { return !lengths_.empty(); }
  float of(int64_t b, int64_t h, int64_t i) const {
    return any() ? sums_[(h * rows_ + i) * lengths_.size() + index_[b]] : 1.0f;
  }
  /// Too little is left of the row's weight for a quotient to have digits.
  bool stray(int64_t b, int64_t h, int64_t i) const { return any() && of(b, h, i) < 1e-12f; }

 private:
  int64_t rows_;
  std::vector<int64_t> lengths_, index_;  ///< the distinct lengths, and which of them each sample has
  std::vector<float> sums_;               ///< H×L×distinct
};

}  // namespace synthesizer::kernel
