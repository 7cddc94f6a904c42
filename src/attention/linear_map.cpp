#include "attention/linear_map.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>

#include "attention/matrix_product.h"
#include "base/error.h"

namespace synthesizer {
namespace {

std::vector<int64_t> sizes_of_result(const at::Tensor& x, const at::Tensor& weight) {
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return sizes;
}

at::Tensor as_rows(const at::Tensor& x) {
  return x.reshape({x.numel() / x.size(-1), x.size(-1)});
}

}  // namespace

at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      const MatrixFormPtr& form) {
  if (form) {
    if (c10::GradMode::is_enabled())
      invalid("a model prepared for inference gives no gradients: train the model that it was made from");
    return form->apply(as_rows(x).to(at::kFloat), bias).view(sizes_of_result(x, weight));
  }
  if (!has_own_product(x, weight)) return at::linear(x, weight, bias);
  RECORD_FUNCTION("synthesizer::linear_map", std::vector<c10::IValue>({x, weight}));
  return matrix_product(as_rows(x), weight, bias).view(sizes_of_result(x, weight));
}

}  // namespace synthesizer
