#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

#include "attention/kernel/attend.h"

namespace synthesizer {

int64_t draw_seed() {
  auto generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());
  return static_cast<int64_t>(at::check_generator<at::CPUGeneratorImpl>(generator)->random64());
}

Dropout draw_dropout(double probability, const at::Tensor& x) {
  if (probability == 0) return {};
  if (!x.key_set().has(c10::DispatchKey::Python) && !x.is_meta()) return {probability, draw_seed(), {}};
  const auto options = at::TensorOptions().dtype(at::kLong).device(at::kCPU);
  return {probability, 0, at::randint(int64_t{1} << 62, {1}, options)};
}

}  // namespace synthesizer
