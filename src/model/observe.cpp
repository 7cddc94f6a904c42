#include "model/observe.h"

namespace synthesizer {
namespace {
thread_local Observer current;
}

Observing::Observing(Observer observer) : before_(std::move(current)) {
  current = std::move(observer);
}
Observing::~Observing() {
  current = std::move(before_);
}

at::Tensor observed(const std::string& block, const char* part, at::Tensor output) {
  if (current) current(block + "." + part, output);
  return output;
}

}  // namespace synthesizer
