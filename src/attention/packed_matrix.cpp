#include <ATen/ATen.h>
#include <fmt/format.h>

#include "attention/kernel/packed_product.h"
#include "attention/matrix_form.h"
#include "attention/matrix_of.h"
#include "base/error.h"

namespace synthesizer {

struct PackedMatrix::Panels : kernel::Factor {};

PackedMatrix::PackedMatrix(const at::Tensor& weight)
    : out_(weight.size(0)), panels_(std::make_unique<Panels>()) {
  if (!weight.is_cpu() || weight.scalar_type() != at::kFloat) {
    invalid(fmt::format("a weight is {} on {}: only float32 on the CPU can be prepared for inference",
                        c10::toString(weight.scalar_type()), weight.device().str()));
  }
  panels_->pack_weight(matrix_of(weight.detach().contiguous()).transposed());
}

PackedMatrix::~PackedMatrix() = default;

at::Tensor PackedMatrix::apply(const at::Tensor& x, const at::Tensor& bias) const {
  const auto rows = x.contiguous();
  auto y = at::empty({x.size(0), out_}, x.options());
  const at::Tensor plain = bias.defined() ? bias.contiguous() : bias;
  multiply_rows(matrix_of(rows), *panels_,
                {.bias = plain.defined() ? plain.const_data_ptr<float>() : nullptr}, matrix_of(y));
  return y;
}

}  // namespace synthesizer
