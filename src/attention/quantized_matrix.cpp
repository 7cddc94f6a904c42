#include <ATen/ATen.h>

#include <limits>

#include "attention/matrix_form.h"

namespace synthesizer {
namespace {

std::shared_ptr<const QuantizedMatrix> nearest_int8(const at::Tensor& weight) {
  const auto scale = weight.abs().amax(1).div(127).clamp_min(std::numeric_limits<float>::min());
  const auto quantized = weight.div(scale.unsqueeze(1)).round().clamp(-127, 127).to(at::kChar);
  return std::make_shared<Int8Matrix>(quantized, scale);
}

}  // namespace

std::shared_ptr<const QuantizedMatrix> quantized_matrix(const at::Tensor& weight, Quantization kind) {
  const auto plain = weight.detach();
  if (kind == Quantization::bfloat16) return std::make_shared<Bfloat16Matrix>(plain.to(at::kBFloat16));
  return nearest_int8(plain.to(at::kFloat));
}

const QuantizedMatrix* as_quantized(const MatrixFormPtr& form) {
  return dynamic_cast<const QuantizedMatrix*>(form.get());
}

at::Tensor plain_matrix(const at::Tensor& weight, const MatrixFormPtr& form) {
  const QuantizedMatrix* quantized = as_quantized(form);
  return quantized ? quantized->plain() : weight;
}

}  // namespace synthesizer
