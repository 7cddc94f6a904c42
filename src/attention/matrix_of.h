#pragma once

#include <ATen/core/Tensor.h>

#include "attention/kernel/matrix.h"

namespace synthesizer {

/// A tensor with two dimensions as the kernel sees it. A factor is only read from.
inline kernel::Matrix matrix_of(const at::Tensor& t) {
  return {const_cast<float*>(t.const_data_ptr<float>()), t.size(0), t.size(1), t.stride(0), t.stride(1)};
}

}  // namespace synthesizer
