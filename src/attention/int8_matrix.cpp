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

std::vector<QuantizedMatrix::Part> Int8Matrix::parts() const {
  return {{"", quantized_}, {kScaleSuffix, scale_}};
}

std::shared_ptr<const QuantizedMatrix> Int8Matrix::copy() const {
  return std::make_shared<Int8Matrix>(quantized_.clone(), scale_.clone());
}

}  // namespace synthesizer
