#pragma once

#include <ATen/core/Tensor.h>

namespace synthesizer {

/// y = x Wᵀ + b, the product under every projection; x …×in, W out×in, an undefined bias is none.
///
/// W may have a form that inference is faster with (weight_form.h): int8, given when a quantized model is
/// loaded, or packed, made here while PackWeights asks for it. Asked for gradients, a packed form is dropped
/// and an int8 one refused (InvalidInput): it cannot be trained.
at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {});

/// Rows of a table, W[indices], as at::embedding.
at::Tensor look_up(const at::Tensor& weight, const at::Tensor& indices);

/// While one of these lives, `linear_map` in this thread packs the float32 weights it meets on the CPU
/// without gradients, and keeps them packed for as long as they stay as they are: for whoever applies a model
/// many times, as decoding does. A write through `.data`, which no version counter sees, goes unnoticed until
/// a call wants gradients; so this is for models whose weights nobody else holds.
class PackWeights {
 public:
  PackWeights();
  ~PackWeights();
  PackWeights(const PackWeights&) = delete;
  PackWeights& operator=(const PackWeights&) = delete;

 private:
  bool before_;
};

}  // namespace synthesizer
