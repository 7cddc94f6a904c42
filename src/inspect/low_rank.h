#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// A table as a product of two factors, and what that costs.
struct LowRank {
  at::Tensor left, right;  ///< N×k, float32; the table is left rightᵀ
  double error = 0;        ///< ‖A - left rightᵀ‖ / ‖A‖, each entry counted by its weight
};

/// The factors of rank k nearest to the logits of one head, N×N. `weight` (N×N, none negative) says how much
/// an entry counts: 0 above the diagonal of a causal table, less where few texts reach. A number added to a
/// whole row changes no attention, so rows are centred first: A is what is left.
///
/// Where all entries count alike the answer is the truncated SVD; otherwise that is where alternating least
/// squares begin, which lower the weighted error from round to round.
LowRank low_rank(const at::Tensor& table, const at::Tensor& weight, int64_t rank);

}  // namespace synthesizer
