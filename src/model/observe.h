#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace synthesizer {

/// Called with the output of every block of a model, in the order they are computed, while it is set on this
/// thread: to find the first tensor that went wrong, or to look at activations.
using Observer = std::function<void(const std::string& name, const at::Tensor& output)>;

/// Sets an observer for as long as it lives.
class Observing {
 public:
  explicit Observing(Observer observer);
  ~Observing();
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

 private:
  Observer before_;
};

/// Hands a block's output to the observer, if there is one, and back to the caller. `part`: "attention".
at::Tensor observed(const std::string& block, const char* part, at::Tensor output);

}  // namespace synthesizer
