#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace synthesizer {

/// Called with the output of every block of a model in a forward pass on this thread, in the order of
/// computation: to find the first tensor that is not finite, or to inspect activations.
using ForwardHook = std::function<void(const std::string& name, const at::Tensor& output)>;

/// Sets the hook of this thread for the lifetime of the object.
class ScopedForwardHook {
 public:
  explicit ScopedForwardHook(ForwardHook hook);
  ~ScopedForwardHook();
  ScopedForwardHook(const ScopedForwardHook&) = delete;
  ScopedForwardHook& operator=(const ScopedForwardHook&) = delete;

 private:
  ForwardHook before_;
};

/// Passes a block's output to the hook, if there is one, and returns it. `part`: "attention".
at::Tensor call_forward_hook(const std::string& block, const char* part, at::Tensor output);

}  // namespace synthesizer
