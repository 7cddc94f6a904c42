#pragma once

#include "attention/kernel/product.h"

namespace synthesizer::kernel {

/// y = x · b, plus the bias (as many numbers as y has columns, or null) in every row, by all threads. Each
/// panel of b is read from memory once however many rows there are, which is what decoding pays for: a row
/// for every hypothesis and 40 million weights.
void multiply_rows(const Matrix& x, const Factor& b, const float* bias, const Matrix& y);

}  // namespace synthesizer::kernel
