#include "model/embedding.h"

#include <ATen/ATen.h>

#include <cmath>

namespace synthesizer {

Embedding::Embedding(int64_t vocabulary, int64_t width)
    : scale_(std::sqrt(static_cast<double>(width))),
      weight_(declare({"weight", Role::embedding, {vocabulary, width}, Init::normal(1 / scale_)})) {}

at::Tensor Embedding::forward(const at::Tensor& tokens) const {
  const Int8Matrix* int8 = as_int8(form_);
  return (int8 ? int8->rows(tokens) : at::embedding(weight_, tokens)) * scale_;
}

}  // namespace synthesizer
