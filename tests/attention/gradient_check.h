#pragma once

#include "attention/attention.h"

namespace synthesizer::testing {

/// Compares backward() with central differences in double: for the input and for every parameter of the layer
/// (converted to double), every entry, of a random weighted sum of the output. Reports each that differs.
void check_gradients(const Attention& layer, int64_t batch, int64_t length, const at::Tensor& lengths = {});

}  // namespace synthesizer::testing
