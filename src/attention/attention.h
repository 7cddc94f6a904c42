#pragma once

#include <torch/nn/pimpl.h>

#include "attention/declared_module.h"
#include "attention/mixer.h"

namespace synthesizer {

/// A multi-head attention layer for LibTorch models, with any of the paper's alignments, or one of its rivals
/// such as "light-conv" (rivals.h):
///
///     synthesizer::Attention attention({.attention = "R+V", .width = 512, .heads = 8,
///                                       .max_length = 256, .causal = true});
///     torch::Tensor y = attention(x);                  // B×L×D
///
/// Parameters are registered under stable names ("logits.V.query.weight"); see docs/parameters.md.
class AttentionImpl : public DeclaredModule {
 public:
  explicit AttentionImpl(AttentionOptions options);

  /// See Mixer::forward, also for the bias.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths = {}, const at::Tensor& bias = {}) const;
  /// The weights without dropout; see Mixer::weights.
  at::Tensor weights(const at::Tensor& x, const at::Tensor& lengths = {}, const at::Tensor& bias = {}) const;

  State start(int64_t batch) const { return mixer_->start(batch); }
  at::Tensor step(const at::Tensor& x, State& state, const at::Tensor& bias = {}) const {
    return mixer_->step(weights_, x, state, bias);
  }

  /// Makes room for longer sequences. What was learnt stays; new entries are initialised. Gradients are
  /// dropped, and an optimizer made before has to be made again.
  void grow(int64_t max_length);

  /// Makes the layer ready for inference, for good: it is faster from now on, gives no gradients and cannot
  /// grow; the registered tensors must not be written to any more. See Mixer::prepare.
  void prepare();

  std::shared_ptr<torch::nn::Module> clone(
      const std::optional<torch::Device>& device = std::nullopt) const override;
  void pretty_print(std::ostream& stream) const override;

  const AttentionOptions& options() const { return mixer_->options(); }
  const Mixer& mixer() const { return *mixer_; }
  const std::vector<Parameter>& declared() const override { return mixer_->parameters(); }
  /// The registered tensors, in the order of mixer().parameters().
  const std::vector<at::Tensor>& tensors() const { return weights_.tensors; }
  const LayerWeights& layer_weights() const { return weights_; }
  /// The form that stands for tensor n from now on: for whoever loads or makes quantized weights.
  SharedForm& form(size_t n);

 private:
  std::unique_ptr<Mixer> mixer_;
  LayerWeights weights_;  ///< handles of the registered parameters, in the mixer's order
};

/// The handle that people hold, as TORCH_MODULE makes them, with a constructor that takes options in braces.
class Attention : public torch::nn::ModuleHolder<AttentionImpl> {
 public:
  using Impl = AttentionImpl;
  using torch::nn::ModuleHolder<AttentionImpl>::ModuleHolder;
  explicit Attention(AttentionOptions options)
      : ModuleHolder(std::make_shared<AttentionImpl>(std::move(options))) {}
};

}  // namespace synthesizer
