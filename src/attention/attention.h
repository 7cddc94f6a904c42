#pragma once

#include <torch/nn/pimpl.h>

#include "attention/declared_module.h"
#include "attention/mixer.h"

namespace synthesizer {

/// An attention layer for LibTorch models: any variant of the paper, a mixture of them, or a baseline such as
/// "light-conv" (baselines.h):
///
///     synthesizer::Attention attention({.attention = "R+V", .width = 512, .heads = 8,
///                                       .max_length = 256, .causal = true});
///     torch::Tensor y = attention(x);                  // B×L×D
///
/// Parameters are registered under stable names ("logits.V.query.weight"); see docs/parameters.md.
class AttentionImpl : public DeclaredModule {
 public:
  explicit AttentionImpl(AttentionOptions options);

  /// See Mixer::forward, also for bias and mask.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths = {}, const at::Tensor& bias = {},
                     const at::Tensor& mask = {}) const;
  /// See Mixer::forward_packed.
  at::Tensor forward_packed(const at::Tensor& x, const PackedRows& rows, const at::Tensor& bias = {}) const {
    return mixer_->forward_packed(weights_, x, rows, is_training(), bias);
  }
  /// The weights without dropout; see Mixer::weights.
  at::Tensor weights(const at::Tensor& x, const at::Tensor& lengths = {}, const at::Tensor& bias = {},
                     const at::Tensor& mask = {}) const;

  State start(int64_t batch) const { return mixer_->start(batch); }
  at::Tensor step(const at::Tensor& x, State& state, const at::Tensor& bias = {}) const {
    return mixer_->step(weights_, x, state, bias);
  }

  SlotCache start_slots(int64_t slots, bool biased = false) const {
    return mixer_->start_slots(weights_, slots, biased);
  }
  at::Tensor step_slots(const at::Tensor& x, SlotCache& cache, const SlotRows& rows,
                        const at::Tensor& bias = {}) const {
    return mixer_->step_slots(weights_, x, cache, rows, bias);
  }

  /// Increases max_length. Trained values are kept; new entries are initialised. Gradients are cleared, and
  /// optimizers must be created again.
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
  /// The form used in place of tensor n. Set by code that loads or creates quantized weights.
  MatrixFormPtr& form(size_t n);

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
