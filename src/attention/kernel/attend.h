#pragma once

#include <ATen/core/Tensor.h>

#include "attention/logits.h"

namespace synthesizer {

/// The one operator under every variant:
///
///     Y = dropout(softmax(S + M)) · value        S as logits.h says
///
/// value B×H×M×K gives B×H×L×K, laid out so that joining the heads costs nothing. Differentiable once in
/// every part of the logits and in value. Registered as torch.ops.synthesizer.attend.
///
/// Three paths, one result: on the CPU in float32 and bfloat16 a fused one (block by block, forward and
/// backward) and a global one (weights made once for the whole batch); everywhere else plain ATen.
at::Tensor attend(const Logits& logits, const Mask& mask, const at::Tensor& value,
                  const Dropout& dropout = {});

/// A seed for the dropout of one call, from the generator that `torch.manual_seed` sets.
int64_t draw_seed();

/// The dropout of one call, with a seed of its own; none for a probability of 0. Where `x` belongs to a graph
/// that is being traced, the graph draws when it runs.
Dropout draw_dropout(double probability, const at::Tensor& x);

/// softmax(S + M) itself, one matrix per head: B×H×L×M, or 1×H×L×M where S depends on no token and no lengths
/// are given. For inspection: differentiable, but slow and large compared with attend.
at::Tensor attention_weights(const Logits& logits, const Mask& mask);

/// For inference with global logits. The weights H×L×M of the whole batch, made once (of a table H×1×M alone:
/// H×M×M) …
at::Tensor global_weights(Logits logits, bool causal);
/// … and applied many times, without column lengths. Not differentiable.
at::Tensor attend_with_global_weights(const at::Tensor& weights, const Mask& mask, const at::Tensor& value);

}  // namespace synthesizer
