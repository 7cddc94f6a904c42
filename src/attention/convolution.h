#pragma once

#include <vector>

#include "attention/mixer.h"

namespace synthesizer {

/// Lightweight and dynamic convolution ("Pay Less Attention with Lightweight and Dynamic Convolutions", Wu et
/// al. 2019): every position is a weighted sum of its neighbours, with weights that know no other token.
///
///     Z = GLU(X W_G)                                  B×L×2D: one half times the sigmoid of the other
///     Y_i = Σ_t softmax(C_i)_t · Z_(i + t - left)     t < w; a C_i for each of G groups of D/G channels
///     out = Y W_O
///
/// Causal: left = w - 1, the window ends at its own position. Otherwise the window is centred, and w odd.
/// Positions outside of the sequence, padding too, count as zeros; the softmax is always that of the whole
/// kernel, so that weights near the ends sum to less than 1 (as in fairseq without renormalisation). Dropout
/// is DropConnect: it drops taps after the softmax.
///
/// Options: `kernel` is w, 7 unless set; `groups` is G, the number of heads unless set, at most D: a kernel
/// for each channel, as the dynamic convolution that the paper compares with has it.
///
/// Decoding remembers the last w - 1 rows of Z.
class Convolution : public Mixer {
 public:
  static std::vector<OptionInfo> accepted_options();
  bool is_position_aware() const override { return true; }

 protected:
  explicit Convolution(AttentionOptions options);

  /// C, before the softmax: G×w for all positions, or B×L×G×w from Z (B×L×D).
  virtual at::Tensor scores(const Weights& weights, const at::Tensor& z) const = 0;

  at::Tensor forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          bool training, const AddedLogits& added) const override;
  at::Tensor step_impl(const LayerWeights& all, const at::Tensor& x, State& state,
                       const at::Tensor& bias) const override;
  at::Tensor step_slots_impl(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                             const SlotRows& rows, const at::Tensor& bias) const override;
  int64_t macs(int64_t length) const override;

  int64_t taps() const { return taps_; }
  int64_t groups() const { return groups_; }

 private:
  /// softmax(C) in the dtype of z.
  at::Tensor kernel(const Weights& weights, const at::Tensor& z) const;
  /// The sum of the last n rows of Z, seen (B×n×D, n ≤ w), weighted by the last n taps of kernel(z): B×1×D.
  at::Tensor weighted(const at::Tensor& kernel, const at::Tensor& seen) const;

  int64_t taps_, groups_;
};

/// One kernel for all positions: C = `kernel.weight`, G×w.
class LightConvolution : public Convolution {
 public:
  explicit LightConvolution(AttentionOptions options);
  bool global() const override { return true; }

 protected:
  at::Tensor scores(const Weights& weights, const at::Tensor& z) const override;
};

/// A kernel from each position's own token: C_i = Z_i `kernel.weight`ᵀ. Tap t of group g is row g·w + t of
/// the matrix, G·w×D; where groups are more than heads, row t·G + g: tap by tap, as Mesh TensorFlow has a map
/// for each tap, and as softmax and convolution are fastest.
class DynamicConvolution : public Convolution {
 public:
  explicit DynamicConvolution(AttentionOptions options);
  bool global() const override { return false; }

 protected:
  at::Tensor scores(const Weights& weights, const at::Tensor& z) const override;
  int64_t macs(int64_t length) const override;
};

}  // namespace synthesizer
