#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// B×L×(H·K) seen as B×H×L×K, without a copy: head m has columns m·K … (m+1)·K of the width.
at::Tensor split_heads(const at::Tensor& x, int64_t heads);

/// B×H×L×K back to B×L×(H·K), without a copy where it came from split_heads or from the kernel.
at::Tensor join_heads(const at::Tensor& y);

/// The hidden layer of dense and factorized-dense, B×H×L×C: relu(x Wᵀ + b), or, where the layer has no
/// hidden layer (weight undefined), x itself for every head.
at::Tensor hidden_features(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                           int64_t heads);

}  // namespace synthesizer
