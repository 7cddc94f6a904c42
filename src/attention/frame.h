#pragma once

#include <memory>
#include <vector>

#include "attention/mixer.h"
#include "attention/mixture.h"

namespace synthesizer {

/// The multi-head frame around a synthesizing function: projections, heads, masks, dropout, decoding.
///
///     Y = softmax(S(X) + M) · X W_V,        out = concat_heads(Y) W_O
class Frame : public Mixer {
 public:
  /// Throws InvalidInput where the options cannot be met.
  explicit Frame(AttentionOptions options);

  bool global() const override { return mixture_->global(); }
  bool takes_bias() const override { return true; }

 protected:
  at::Tensor mix(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths, bool training,
                 const at::Tensor& bias) const override;
  at::Tensor look(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                  const at::Tensor& bias) const override;
  at::Tensor mix_row(const LayerWeights& all, const at::Tensor& x, State& state,
                     const at::Tensor& bias) const override;
  void make_ready(LayerWeights& all) const override;
  int64_t macs(int64_t length) const override;
  void prepare_growth(AttentionOptions& larger) const override { mixture_->prepare_growth(larger); }

 private:
  /// Which entries count.
  Mask mask(const at::Tensor& lengths) const;

  std::unique_ptr<Mixture> mixture_;
};

}  // namespace synthesizer
