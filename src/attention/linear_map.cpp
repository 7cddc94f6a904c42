#include "attention/linear_map.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include "attention/weight_form.h"
#include "base/error.h"

namespace synthesizer {
namespace {

thread_local bool packing = false;

/// The form of W to apply to x, or none where plain LibTorch serves.
c10::intrusive_ptr<WeightForm> usable_form(const at::Tensor& x, const at::Tensor& weight) {
  auto form = form_of(weight);
  const auto packed = c10::dynamic_intrusive_pointer_cast<PackedWeight>(form);
  const bool gradients = c10::GradMode::is_enabled();
  if (form && !packed) {
    if (gradients) invalid("this model was quantized to be used: it cannot be trained, its source can");
    return form;
  }
  if (gradients) {
    if (packed) set_form(weight, {});
    return {};
  }
  if (!packing || !x.is_cpu() || x.scalar_type() != at::kFloat || weight.scalar_type() != at::kFloat ||
      weight.is_inference() || at::autocast::is_autocast_enabled(at::kCPU)) {
    return {};
  }
  if (packed && packed->fits(weight)) return packed;
  auto made = c10::make_intrusive<PackedWeight>(weight);
  set_form(weight, made);
  return made;
}

}  // namespace

at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto form = usable_form(x, weight);
  if (!form) return at::linear(x, weight, bias);
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  const auto rows = x.reshape({x.numel() / x.size(-1), x.size(-1)});
  return form->apply(rows, bias).view(sizes);
}

at::Tensor look_up(const at::Tensor& weight, const at::Tensor& indices) {
  const auto int8 = int8_of(weight);
  return int8 ? int8->rows(indices) : at::embedding(weight, indices);
}

PackWeights::PackWeights() : before_(packing) {
  packing = true;
}

PackWeights::~PackWeights() {
  packing = before_;
}

}  // namespace synthesizer
