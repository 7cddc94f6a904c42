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

/// One layer of a Transformer: self-attention of any kind or one of its rivals, attention to an encoder where
/// `cross`, and the feed-forward part, each in a residual branch with its norm before ("pre") or after the
/// sum ("post").
class Layer : public torch::nn::Module {
 public:
  /// `name`: its place in the model, for observers.
  Layer(const ModelOptions& options, const std::string& spec, bool causal, bool cross, std::string name);

  /// x B×L×D. `encoded` with its lengths: the encoder's output, where the layer looks at one; `bias`: of
  /// relative positions.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                     const at::Tensor& encoded = {}, const at::Tensor& encoded_lengths = {});

  LayerState start(int64_t batch, const at::Tensor& encoded, const at::Tensor& encoded_lengths) const;
  at::Tensor step(const at::Tensor& x, LayerState& state, const at::Tensor& bias);  ///< x B×D

  const Attention& attention() const { return attention_; }

 private:
  using Branch = std::function<at::Tensor(const at::Tensor&)>;
  /// The bias, or none where this layer's attention has no logits to add it to.
  at::Tensor taken(const at::Tensor& bias) const;
  /// Shows one of its attentions to whoever looks; see look.h.
  void show_self(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias) const;
  void show_cross(const at::Tensor& x, const Memory& memory) const;
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
