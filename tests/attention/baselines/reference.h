#pragma once

#include "attention/attention.h"

namespace synthesizer::testing {

/// What a baseline should compute, from the formulas alone: plain loops in double over the layer's
/// parameters, found by their public names. Shares no code with the library. Dropout is not applied. B×L×D,
/// float64.
at::Tensor baseline_reference(const Attention& layer, const at::Tensor& x, const at::Tensor& lengths = {});

}  // namespace synthesizer::testing
