#include "task/guarded_steps.h"

#include "runtime/interrupt.h"

namespace synthesizer {

at::Tensor GuardedSteps::step(const at::Tensor& tokens) {
  check_interrupt();
  return steps_.step(tokens);
}

}  // namespace synthesizer
