#include "model/embedding.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/linear_map.h"
#include "attention/parameter.h"

namespace synthesizer {

Embedding::Embedding(int64_t vocabulary, int64_t width)
    : scale_(std::sqrt(static_cast<double>(width))),
      weight_(register_parameter("weight",
                                 initialise({"weight", {vocabulary, width}, Init::normal(1 / scale_)}))) {}

at::Tensor Embedding::forward(const at::Tensor& tokens) const {
  return look_up(weight_, tokens) * scale_;
}

}  // namespace synthesizer
