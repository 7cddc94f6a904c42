#pragma once

#include "attention/kernel/problem.h"

namespace synthesizer::kernel {

/// The three ways to compute one operator. All take a checked problem.
///
/// Plain: ATen operations on whole matrices; any device and dtype. What the others are compared with.
Result plain_forward(const Problem& problem);
Gradients plain_backward(const Problem& problem, const at::Tensor& grad, const NeededGradients& wanted);

/// Fused: float32 and bfloat16 on the CPU, block by block; memory beside inputs and outputs does not grow
/// with L×M. bfloat16 is widened to float32 inside.
Result fused_forward(const Problem& problem);
Gradients fused_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                         const at::Tensor& lse, const NeededGradients& wanted);

/// Global: as fused, for logits that depend on no token: the weights are made once for the whole batch.
Result global_forward(const Problem& problem);
Gradients global_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                          const NeededGradients& wanted);

/// softmax(S) of global logits, H×L×M in float32, to be used many times …
at::Tensor make_global_weights(const Logits& logits, bool causal);
/// … here, without column lengths; made on the way where undefined.
at::Tensor apply_global_weights(const Problem& problem, const at::Tensor& weights);

}  // namespace synthesizer::kernel
