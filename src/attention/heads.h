#pragma once

#include <ATen/core/Tensor.h>

#include "attention/packed_rows.h"

namespace synthesizer {

/// B×L×(H·K) seen as B×H×L×K, without a copy: head m has columns m·K … (m+1)·K of the width.
at::Tensor split_heads(const at::Tensor& x, int64_t heads);
/// The same of N×(H·K) where rows are packed.
at::Tensor split_heads(const at::Tensor& x, int64_t heads, const PackedRows* packed);

/// B×H×L×K back to B×L×(H·K), without a copy where it came from split_heads or from the kernel.
at::Tensor join_heads(const at::Tensor& y);

/// t.narrow(dimension, begin, length), and t itself where that is all of it: the gradient of a narrowed
/// tensor is copied into zeros.
at::Tensor narrowed(const at::Tensor& t, int64_t dimension, const c10::SymInt& begin,
                    const c10::SymInt& length);

}  // namespace synthesizer
