#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <optional>

#include "attention/attention.h"
#include "model/cross_attention.h"
#include "model/feed_forward.h"
#include "model/norm.h"
#include "model/options.h"

namespace synthesizer {

/// What one layer of a decoder remembers between steps.
struct LayerState {
  State self;
  std::optional<Memory> memory;  ///< of the encoder, where there is one

  void reorder(const at::Tensor& indices);
};

/// The same for texts that begin and end at different times; see SlotCache.
struct LayerSlots {
  SlotCache self;
  std::optional<MemorySlots> memory;  ///< of the encoder, where there is one
};

/// One layer of a Transformer: self-attention (any variant or baseline), cross-attention where `cross`, and
/// the feed-forward part, each in a residual branch with its norm before ("pre") or after the sum ("post").
class Layer : public torch::nn::Module {
 public:
  /// `name`: the module's name in the model, for hooks.
  Layer(const ModelOptions& options, const std::string& spec, bool causal, bool cross, std::string name);

  /// x B×L×D. `encoded` with its lengths: the encoder's output, where the layer has cross-attention; `bias`:
  /// of relative positions; `rows`: x and the result are N×D, its packed rows.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                     const at::Tensor& encoded = {}, const at::Tensor& encoded_lengths = {},
                     const PackedRowsPtr& rows = {});

  LayerState start(int64_t batch, const at::Tensor& encoded, const at::Tensor& encoded_lengths) const;
  at::Tensor step(const at::Tensor& x, LayerState& state, const at::Tensor& bias);  ///< x B×D

  LayerSlots start_slots(int64_t slots, bool biased) const;
  at::Tensor step_slots(const at::Tensor& x, LayerSlots& state, const SlotRows& rows,
                        const at::Tensor& bias) const;

  const Attention& attention() const { return attention_; }

 private:
  using Branch = std::function<at::Tensor(const at::Tensor&)>;
  /// The bias, or none where this layer's attention has no logits to add it to.
  at::Tensor supported_bias(const at::Tensor& bias) const;
  /// Calls the attention hook, if there is one; see attention_hook.h.
  void call_self_attention_hook(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias) const;
  void call_cross_attention_hook(const at::Tensor& x, const Memory& memory) const;
  at::Tensor residual(const at::Tensor& x, const Norm& norm, const char* part, const Branch& branch) const;

  std::string name_;
  bool post_norm_;
  double dropout_;
  Attention attention_{nullptr};
  std::shared_ptr<CrossAttention> cross_;
  std::shared_ptr<FeedForward> feed_forward_;
  std::shared_ptr<Norm> attention_norm_, cross_norm_, feed_forward_norm_;
};

}  // namespace synthesizer
