#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/quantized/PackedParams.h>
#include <c10/util/Exception.h>

#include <limits>

#include "attention/weight_form.h"

namespace synthesizer {
namespace {

/// LibTorch announces that its tensors of qint8 will go one day; whoever runs a model cannot act on it.
class Unheard : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

using Packed = c10::intrusive_ptr<LinearPackedParamsBase>;

Packed pack(const at::Tensor& q, const at::Tensor& scale, const at::Tensor& bias) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("quantized::linear_prepack", "")
                             .typed<Packed(at::Tensor, std::optional<at::Tensor>)>();
  Unheard unheard;
  const c10::WarningUtils::WarningHandlerGuard guard(&unheard);
  const auto zeros = at::zeros({q.size(0)}, at::kLong);
  const auto weight = at::_make_per_channel_quantized_tensor(q, scale, zeros, 0);
  return op.call(weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace

at::Tensor Int8Weight::apply(const at::Tensor& x, const at::Tensor& bias) const {
  std::call_once(packing_, [&] { packed_ = pack(q_, scale_, bias); });
  // Without this bit less, products would overflow where the processor adds pairs of them in 16 bits.
  constexpr bool seven_bits = true;
  return static_cast<LinearPackedParamsBase&>(*packed_).apply_dynamic(x.contiguous(), seven_bits);
}

at::Tensor Int8Weight::rows(const at::Tensor& indices) const {
  const auto flat = indices.flatten();
  auto sizes = indices.sizes().vec();
  sizes.push_back(q_.size(1));
  const auto rows = q_.index_select(0, flat).to(at::kFloat) * scale_.index_select(0, flat).unsqueeze(1);
  return rows.view(sizes);
}

c10::intrusive_ptr<Int8Weight> quantize_int8(const at::Tensor& weight) {
  const auto plain = weight.detach().to(at::kFloat);
  const auto scale = plain.abs().amax(1).div(127).clamp_min(std::numeric_limits<float>::min());
  const auto q = plain.div(scale.unsqueeze(1)).round().clamp(-127, 127).to(at::kChar);
  return c10::make_intrusive<Int8Weight>(q, scale);
}

void replace_by_int8(const at::Tensor& weight, c10::intrusive_ptr<Int8Weight> form) {
  const auto nothing = at::full({1, 1}, std::numeric_limits<float>::quiet_NaN()).expand(weight.sizes());
  weight.set_data(nothing);
  set_form(weight, std::move(form));
}

c10::intrusive_ptr<Int8Weight> int8_of(const at::Tensor& weight) {
  return c10::dynamic_intrusive_pointer_cast<Int8Weight>(form_of(weight));
}

at::Tensor plain_weight(const at::Tensor& weight) {
  const auto int8 = int8_of(weight);
  return int8 ? int8->rows(at::arange(weight.size(0))) : weight;
}

}  // namespace synthesizer
