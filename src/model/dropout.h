#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// Zeroes entries with that probability and scales the others, where `training`. The mask is a function of a
/// seed drawn for the call and is made again for the backward pass: nothing is kept but the seed.
at::Tensor drop_out(const at::Tensor& x, double probability, bool training);

/// The same with the mask of a given seed and without gradients, for functions that make their masks again
/// themselves: of the same probability, seed and shape it is always the same mask.
at::Tensor drop_out_with_seed(const at::Tensor& x, double probability, int64_t seed);

}  // namespace synthesizer
