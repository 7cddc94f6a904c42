#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace synthesizer {

/// A tensor that may be undefined, as autograd's functions take it.
inline std::optional<at::Tensor> if_defined(const at::Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

}  // namespace synthesizer
