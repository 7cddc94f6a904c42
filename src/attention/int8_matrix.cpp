#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/quantized/PackedParams.h>
#include <c10/util/Exception.h>

#include <limits>

#include "attention/matrix_form.h"

namespace synthesizer {
namespace {

/// LibTorch announces that its tensors of qint8 will go one day; whoever runs a model cannot act on it.
class Unheard : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

using FbgemmWeight = c10::intrusive_ptr<LinearPackedParamsBase>;

FbgemmWeight pack_for_fbgemm(const at::Tensor& quantized, const at::Tensor& scale) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("quantized::linear_prepack", "")
                             .typed<FbgemmWeight(at::Tensor, std::optional<at::Tensor>)>();
  Unheard unheard;
  const c10::WarningUtils::WarningHandlerGuard guard(&unheard);
  const auto zeros = at::zeros({quantized.size(0)}, at::kLong);
  const auto weight = at::_make_per_channel_quantized_tensor(quantized, scale, zeros, 0);
  return op.call(weight, std::nullopt);
}

}  // namespace

struct Int8Matrix::Packed {
  FbgemmWeight weight;
};

Int8Matrix::Int8Matrix(at::Tensor quantized, at::Tensor scale)
    : quantized_(std::move(quantized)),
      scale_(std::move(scale)),
      packed_(std::make_unique<Packed>(Packed{pack_for_fbgemm(quantized_, scale_)})) {}

Int8Matrix::~Int8Matrix() = default;

at::Tensor Int8Matrix::apply(const at::Tensor& x, const at::Tensor& bias) const {
  // Inputs become whole numbers from 1 to 127. With more, sums of two products would not fit into the 16 bits
  // in which some processors form them.
  constexpr int64_t steps = 63, zero = 64;
  const auto largest = x.abs().amax(1, /*keepdim=*/true).clamp_min(std::numeric_limits<float>::min());
  const auto y =
      packed_->weight->apply_with_input_q_dq_qweight_dq_output_fp32(x / largest, 1.0 / steps, zero);
  const auto scaled = y.mul(largest);
  return bias.defined() ? scaled + bias : scaled;
}

at::Tensor Int8Matrix::rows(const at::Tensor& indices) const {
  const auto flat = indices.flatten();
  auto sizes = indices.sizes().vec();
  sizes.push_back(quantized_.size(1));
  const auto chosen = quantized_.index_select(0, flat).to(at::kFloat);
  return (chosen * scale_.index_select(0, flat).unsqueeze(1)).view(sizes);
}

at::Tensor Int8Matrix::plain() const {
  return quantized_.to(at::kFloat) * scale_.unsqueeze(1);
}

std::shared_ptr<const Int8Matrix> quantize_int8(const at::Tensor& weight) {
  const auto plain = weight.detach().to(at::kFloat);
  const auto scale = plain.abs().amax(1).div(127).clamp_min(std::numeric_limits<float>::min());
  const auto quantized = plain.div(scale.unsqueeze(1)).round().clamp(-127, 127).to(at::kChar);
  return std::make_shared<Int8Matrix>(quantized, scale);
}

const Int8Matrix* as_int8(const MatrixFormPtr& form) {
  return dynamic_cast<const Int8Matrix*>(form.get());
}

at::Tensor plain_matrix(const at::Tensor& weight, const MatrixFormPtr& form) {
  const Int8Matrix* int8 = as_int8(form);
  return int8 ? int8->plain() : weight;
}

}  // namespace synthesizer
