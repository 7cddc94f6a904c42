#include "attention/packed_panels.h"

#include <ATen/ATen.h>

#include "attention/kernel/packed_product.h"
#include "attention/matrix_of.h"

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

}  // namespace synthesizer
