#pragma once

#include <ATen/core/Tensor.h>

#include "attention/kernel/product.h"

namespace synthesizer {

/// A weight matrix W (out×in) in the order in which the product reads it.
class PackedPanels {
 public:
  /// `weight`: float32 on the CPU, with numbers that the storage can hold.
  PackedPanels(const at::Tensor& weight, kernel::Storage storage);

  /// x Wᵀ + b, for x n×in of float32; an undefined bias is none.
  at::Tensor apply(const at::Tensor& x, const at::Tensor& bias) const;

 private:
  int64_t out_;
  kernel::Factor factor_;
};

}  // namespace synthesizer
