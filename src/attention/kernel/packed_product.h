#pragma once

#include "attention/kernel/product.h"

namespace synthesizer::kernel {

/// What a product is added to: nothing, as many numbers as it has columns in every row, or what is there.
struct Start {
  const float* bias = nullptr;
  bool there = false;
};

/// y = start + x · b, by all threads. Each panel of b is read from memory once however many rows there are,
/// which is what decoding pays for: a row for every hypothesis and 40 million weights.
void multiply_rows(const Matrix& x, const Factor& b, Start start, const Matrix& y);

/// The same with a factor that is packed for this product alone, by all threads too, as in training.
void multiply_rows(const Matrix& x, const Matrix& b, Start start, const Matrix& y);

}  // namespace synthesizer::kernel
