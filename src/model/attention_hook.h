#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

namespace synthesizer {

/// One call of an attention layer in a forward pass. The weights are computed from the layer's input, and
/// only if the hook calls `weights`.
struct AttentionCall {
  std::string layer;      ///< "encoder.layers.0"
  std::string part;       ///< "attention" or "cross"
  std::string attention;  ///< "R+V"
  bool causal = false;
  /// B×H×L×M, or 1×H×L×M where the batch shares them; empty where there are none (convolutions, Linformer).
  std::function<at::Tensor()> weights;
};

/// Called for every attention layer of a forward pass on this thread, in the order of computation. A layer
/// that is applied several times (recurrent depth) calls it each time.
using AttentionHook = std::function<void(const AttentionCall&)>;

/// Sets the hook of this thread for the lifetime of the object.
class ScopedAttentionHook {
 public:
  explicit ScopedAttentionHook(AttentionHook hook);
  ~ScopedAttentionHook();
  ScopedAttentionHook(const ScopedAttentionHook&) = delete;
  ScopedAttentionHook& operator=(const ScopedAttentionHook&) = delete;

 private:
  AttentionHook before_;
};

/// Whether this thread has a hook; without one, layers prepare nothing for it.
bool has_attention_hook();
void call_attention_hook(const AttentionCall& call);

}  // namespace synthesizer
