#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// x B×L×D with zeros in the rows past each sample's length (B, int64, where x is); x itself where lengths
/// are undefined.
at::Tensor without_padding(const at::Tensor& x, const at::Tensor& lengths);

}  // namespace synthesizer
