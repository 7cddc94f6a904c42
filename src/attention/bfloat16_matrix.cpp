#include <ATen/ATen.h>

#include "attention/matrix_form.h"
#include "attention/packed_panels.h"

namespace synthesizer {

Bfloat16Matrix::Bfloat16Matrix(at::Tensor weight)
    : weight_(std::move(weight)),
      panels_(std::make_shared<PackedPanels>(weight_.to(at::kFloat), kernel::Storage::bfloat16)) {}

Bfloat16Matrix::Bfloat16Matrix(at::Tensor weight, std::shared_ptr<const PackedPanels> panels)
    : weight_(std::move(weight)), panels_(std::move(panels)) {}

at::Tensor Bfloat16Matrix::apply(const at::Tensor& x, const at::Tensor& bias) const {
  return panels_->apply(x, bias);
}

at::Tensor Bfloat16Matrix::rows(const at::Tensor& indices) const {
  return at::embedding(weight_, indices).to(at::kFloat);
}

at::Tensor Bfloat16Matrix::plain() const {
  return weight_.to(at::kFloat);
}

std::vector<QuantizedMatrix::Part> Bfloat16Matrix::parts() const {
  return {{"", weight_}};
}

std::shared_ptr<const QuantizedMatrix> Bfloat16Matrix::copy() const {
  return std::shared_ptr<const QuantizedMatrix>(new Bfloat16Matrix(weight_.clone(), panels_));
}

}  // namespace synthesizer
