#pragma once

#include <ATen/core/Tensor.h>

#include "attention/matrix_form.h"

namespace synthesizer {

/// y = x Wᵀ + b, the product under every projection; x …×in, W out×in, an undefined bias is none. With a
/// form, which stands for W: by that form, in float32 and without gradients (InvalidInput where they are
/// asked for).
at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                      const MatrixFormPtr& form = {});

}  // namespace synthesizer
