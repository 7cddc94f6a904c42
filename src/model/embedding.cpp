#include "model/embedding.h"

#include <ATen/ATen.h>

#include <cmath>

namespace synthesizer {

Embedding::Embedding(const ModelOptions& options, int64_t vocabulary)
    : scale_(options.embedding_scale ? std::sqrt(static_cast<double>(options.width)) : 1),
      weight_(declare({"weight",
                       Role::embedding,
                       {vocabulary, options.width},
                       Init::normal(1 / std::sqrt(static_cast<double>(options.width)))})) {}

at::Tensor Embedding::forward(const at::Tensor& tokens) const {
  const QuantizedMatrix* quantized = as_quantized(form_);
  const auto rows = quantized ? quantized->rows(tokens) : at::embedding(weight_, tokens);
  return scale_ == 1 ? rows : rows * scale_;
}

}  // namespace synthesizer
