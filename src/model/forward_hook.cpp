#include "model/forward_hook.h"

namespace synthesizer {
namespace {
thread_local ForwardHook current_forward_hook;
}

ScopedForwardHook::ScopedForwardHook(ForwardHook hook) : before_(std::move(current_forward_hook)) {
  current_forward_hook = std::move(hook);
}
ScopedForwardHook::~ScopedForwardHook() {
  current_forward_hook = std::move(before_);
}

at::Tensor call_forward_hook(const std::string& block, const char* part, at::Tensor output) {
  if (current_forward_hook) current_forward_hook(block + "." + part, output);
  return output;
}

}  // namespace synthesizer
