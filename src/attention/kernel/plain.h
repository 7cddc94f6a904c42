#pragma once

#include "attention/logits.h"

namespace synthesizer::kernel {

/// softmax(S + M) as matrices, B×H×L×M or 1×H×L×M, in float32 or float64; zeros where nothing is seen.
/// Made of differentiable operations.
/// `like` tells device and dtype.
at::Tensor plain_weights(const Logits& logits, const Mask& mask, const c10::SymInt& rows,
                         const c10::SymInt& columns, const at::Tensor& like);

}  // namespace synthesizer::kernel
