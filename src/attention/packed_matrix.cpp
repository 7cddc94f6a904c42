#include <ATen/ATen.h>
#include <fmt/format.h>

#include "attention/kernel/packed_product.h"
#include "attention/matrix_form.h"
#include "attention/matrix_of.h"
#include "attention/packed_panels.h"
#include "base/error.h"

namespace synthesizer {

PackedPanels::PackedPanels(const at::Tensor& weight, kernel::Storage storage) : out_(weight.size(0)) {
  factor_.pack_weight(matrix_of(weight.detach().contiguous()).transposed(), storage);
}

at::Tensor PackedPanels::apply(const at::Tensor& x, const at::Tensor& bias) const {
  const auto rows = x.contiguous();
  auto y = at::empty({x.size(0), out_}, x.options());
  const at::Tensor plain = bias.defined() ? bias.contiguous() : bias;
  multiply_rows(matrix_of(rows), factor_, {.bias = plain.defined() ? plain.const_data_ptr<float>() : nullptr},
                matrix_of(y));
  return y;
}

struct PackedMatrix::Panels : PackedPanels {
  using PackedPanels::PackedPanels;
};

PackedMatrix::PackedMatrix(const at::Tensor& weight) {
  if (!weight.is_cpu() || weight.scalar_type() != at::kFloat) {
    invalid(fmt::format("a weight is {} on {}: only float32 on the CPU can be prepared for inference",
                        c10::toString(weight.scalar_type()), weight.device().str()));
  }
  panels_ = std::make_unique<Panels>(weight, kernel::Storage::float32);
}

PackedMatrix::~PackedMatrix() = default;

at::Tensor PackedMatrix::apply(const at::Tensor& x, const at::Tensor& bias) const {
  return panels_->apply(x, bias);
}

}  // namespace synthesizer
