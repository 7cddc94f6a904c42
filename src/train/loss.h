#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// Sums over the tokens of a batch.
struct LossSum {
  at::Tensor loss;  ///< what is minimised, label smoothing included; a scalar with gradients
  double nll = 0;   ///< negative log-likelihood in nats, without smoothing
  int64_t tokens = 0;
  int64_t correct = 0;  ///< tokens that were the most likely one
  /// With adaptive halting, per token: what pondering cost (N + R) and after how many applications (N)
  /// positions stopped, times the tokens.
  double ponder = 0, depth = 0;
};

/// Label-smoothed cross entropy of softmax(hidden weightᵀ + bias), hidden N×D, weight V×D, bias V or
/// undefined, targets N (int64):
///
///     -(1-ε) log p[target] - ε/V Σ_v log p[v]
///
/// The N×V matrix is never there as a whole: logits, loss and both gradients are made chunk by chunk, in the
/// forward pass already.
LossSum cross_entropy(const at::Tensor& hidden, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& targets, double smoothing);

}  // namespace synthesizer
