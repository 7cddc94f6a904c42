#pragma once

#include <ATen/ATen.h>

#include "fuzz/targets.h"
#include "train/named_tensors.h"

namespace synthesizer::fuzz {

/// Reads every byte of the tensor: one that lies outside its file is found by the sanitizer.
inline void use_tensor(const at::Tensor& tensor) {
  const auto bytes = tensor.contiguous();
  const auto* begin = static_cast<const unsigned char*>(bytes.const_data_ptr());
  unsigned sum = 0;
  for (size_t i = 0; i < bytes.nbytes(); ++i) sum += begin[i];
  if (bytes.nbytes() == 0 && sum != 0) fault("nothing has a sum");
}

inline void use_tensors(const NamedTensors& tensors) {
  for (const NamedTensor& one : tensors) use_tensor(one.tensor);
}

}  // namespace synthesizer::fuzz
