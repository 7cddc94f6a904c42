#include "attention/linear_map.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "base/error.h"

namespace synthesizer {

at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                      const MatrixFormPtr& form) {
  if (!form) return at::linear(x, weight, bias);
  if (c10::GradMode::is_enabled())
    invalid("a model prepared for inference gives no gradients: train the model that it was made from");
  const auto rows = x.reshape({x.numel() / x.size(-1), x.size(-1)});
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return form->apply(rows.to(at::kFloat), bias).view(sizes);
}

}  // namespace synthesizer
