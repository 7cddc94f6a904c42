#pragma once

#include <memory>
#include <vector>

#include "attention/mixer.h"
#include "attention/mixture.h"
#include "attention/weight_cache.h"

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
  /// Drops weights kept from earlier calls without gradients (see WeightCache).
  void forget() const override { cache_->clear(); }

 protected:
  at::Tensor mix(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                 bool training, const at::Tensor& bias) const override;
  at::Tensor look(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                  const at::Tensor& bias) const override;
  at::Tensor mix_row(const std::vector<at::Tensor>& tensors, const at::Tensor& x, State& state,
                     const at::Tensor& bias) const override;
  bool makes_weights(const Parameter& parameter) const override;
  int64_t macs(int64_t length) const override;
  void prepare_growth(AttentionOptions& larger) const override { mixture_->prepare_growth(larger); }

 private:
  /// Which entries count.
  Mask mask(const at::Tensor& lengths) const;
  /// The weights of rows and columns below `length`, kept between calls without gradients.
  WeightCache::Entry kept_weights(const std::vector<at::Tensor>& tensors, int64_t length) const;
  bool keeps_weights(const at::Tensor& value) const;

  std::unique_ptr<Mixture> mixture_;
  std::unique_ptr<WeightCache> cache_;
};

}  // namespace synthesizer
