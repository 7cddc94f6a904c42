// A library with its own copy of the operators, as an extension that links the static library has.

#include <ATen/core/Tensor.h>

#include "attention/kernel/attend.h"
#include "attention/kernel/convolve.h"

extern "C" {

at::Tensor* second_copy_attend(const at::Tensor& table, const at::Tensor& value) {
  synthesizer::Logits logits;
  logits.table = table;
  return new at::Tensor(synthesizer::attend(logits, {}, value));
}

at::Tensor* second_copy_convolve(const at::Tensor& input, const at::Tensor& weight) {
  return new at::Tensor(synthesizer::convolve(input, weight, {}, 1));
}
}
