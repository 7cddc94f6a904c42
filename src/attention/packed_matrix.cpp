#include <ATen/ATen.h>
#include <fmt/format.h>

#include "attention/matrix_form.h"
#include "attention/packed_panels.h"
#include "base/error.h"

namespace synthesizer {

PackedMatrix::PackedMatrix(const at::Tensor& weight) {
  if (!weight.is_cpu() || weight.scalar_type() != at::kFloat) {
    invalid(fmt::format("a weight is {} on {}: only float32 on the CPU can be prepared for inference",
                        c10::toString(weight.scalar_type()), weight.device().str()));
  }
  panels_ = std::make_shared<PackedPanels>(weight, kernel::Storage::float32);
}

at::Tensor PackedMatrix::apply(const at::Tensor& x, const at::Tensor& bias) const {
  return panels_->apply(x, bias);
}

}  // namespace synthesizer
