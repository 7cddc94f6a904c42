#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

#include "attention/kernel/attend.h"

namespace synthesizer {

int64_t draw_seed() {
  auto generator = at::detail::getDefaultCPUGenerator();
  std::lock_guard lock(generator.mutex());
  return static_cast<int64_t>(at::check_generator<at::CPUGeneratorImpl>(generator)->random64());
}

}  // namespace synthesizer
