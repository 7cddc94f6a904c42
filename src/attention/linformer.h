#pragma once

#include <vector>

#include "attention/mixer.h"

namespace synthesizer {

/// Linformer ("Self-Attention with Linear Complexity", Wang et al. 2020): dot-product attention to k mixtures
/// of the positions in place of the positions themselves.
///
///     Y = softmax( (X W_Q) (E X W_K)ᵀ / sqrt(K) ) · F X W_V,      out = concat_heads(Y) W_O
///
/// E = `project.key` and F = `project.value` are k×N, cut to their first L columns; padded positions are
/// zeros before they are mixed. Every mixture has all positions in it, so there is no causal form, and no
/// weights of position by position.
///
/// Options: `rank` is k, 64 or max_length unless set, whichever is less; `share_heads` = false gives every
/// head an E and an F of its own, H×k×N; `share_kv` = true uses E for F too. A layer that grows keeps its
/// rank and its columns, and starts new ones.
class Linformer : public Mixer {
 public:
  explicit Linformer(AttentionOptions options);
  static std::vector<OptionInfo> accepted_options();

  bool global() const override { return false; }

 protected:
  at::Tensor forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          bool training, const AddedLogits& added) const override;
  int64_t macs(int64_t length) const override;
  void prepare_growth(AttentionOptions& larger) const override;

 private:
  /// E or F of keys or values B×L×D: B×H×k×K.
  at::Tensor along_length(const at::Tensor& matrix, const at::Tensor& x) const;

  int64_t rank_;
  bool share_heads_, share_kv_;
};

}  // namespace synthesizer
