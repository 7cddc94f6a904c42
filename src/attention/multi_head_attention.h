#pragma once

#include <memory>
#include <vector>

#include "attention/mixer.h"
#include "attention/mixture.h"

namespace synthesizer {

/// Multi-head attention with synthesized logits: projections, heads, masks, dropout and decoding around a
/// mixture of synthesizing functions.
///
///     Y = softmax(S(X) + M) · X W_V,        out = concat_heads(Y) W_O
class MultiHeadAttention : public Mixer {
 public:
  /// Throws InvalidInput where the options cannot be met.
  explicit MultiHeadAttention(AttentionOptions options);

  bool global() const override { return mixture_->global(); }
  bool supports_bias() const override { return true; }

 protected:
  at::Tensor forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          bool training, const AddedLogits& added) const override;
  at::Tensor forward_packed_impl(const LayerWeights& all, const at::Tensor& x, const PackedRows& rows,
                                 bool training, const AddedLogits& added) const override;
  at::Tensor weights_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          const AddedLogits& added) const override;
  at::Tensor step_impl(const LayerWeights& all, const at::Tensor& x, State& state,
                       const at::Tensor& bias) const override;
  at::Tensor step_slots_impl(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                             const SlotRows& rows, const at::Tensor& bias) const override;
  at::Tensor row_tables(const LayerWeights& all, bool biased) const override;
  void precompute_weights(LayerWeights& all) const override;
  int64_t macs(int64_t length) const override;
  void prepare_growth(AttentionOptions& larger) const override { mixture_->prepare_growth(larger); }

 private:
  /// B×H×L×K: the values of a whole sequence, combined by weights that are made of its tokens x.
  at::Tensor combine(const Weights& weights, const at::Tensor& value, const at::Tensor& x,
                     const RowRange& range, const at::Tensor& lengths, bool training,
                     const AddedLogits& added) const;

  std::unique_ptr<Mixture> mixture_;
};

}  // namespace synthesizer
