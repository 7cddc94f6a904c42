#include "attention/weight_form.h"

namespace synthesizer {
namespace {

/// A tensor's place for its form has no lock of its own.
std::mutex& forms() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

c10::intrusive_ptr<WeightForm> form_of(const at::Tensor& weight) {
  std::lock_guard lock(forms());
  auto* form = dynamic_cast<WeightForm*>(weight.unsafeGetTensorImpl()->get_backend_meta());
  return form == nullptr ? c10::intrusive_ptr<WeightForm>()
                         : c10::intrusive_ptr<WeightForm>::reclaim_copy(form);
}

void set_form(const at::Tensor& weight, c10::intrusive_ptr<WeightForm> form) {
  std::lock_guard lock(forms());
  weight.unsafeGetTensorImpl()->set_backend_meta(std::move(form));
}

}  // namespace synthesizer
