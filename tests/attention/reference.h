#pragma once

#include "attention/attention.h"

namespace synthesizer::testing {

/// What a layer should compute, from the formulas alone: plain loops in double over the layer's parameters,
/// found by their public names. Shares no code with the library. Slow, and meant to be read.
///
///     S = Σ_n α_n S_n(X)        P = softmax(S + M)        out = concat_heads(P · X W_V) W_O
struct Reference {
  at::Tensor output;   ///< B×L×D, float64
  at::Tensor weights;  ///< B×H×L×L, float64
};

/// The spec in the layer's options must be in short form ("R+V"). Dropout is not applied.
Reference reference(const Attention& layer, const at::Tensor& x, const at::Tensor& lengths = {});

}  // namespace synthesizer::testing
