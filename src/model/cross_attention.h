#pragma once

#include <torch/nn/module.h>

#include "attention/logits.h"
#include "model/linear.h"
#include "model/options.h"

namespace synthesizer {

/// What a decoder looks at: keys and values of the encoder's output for one layer, made once a sentence and
/// shared by its beams.
struct Memory {
  at::Tensor key, value;  ///< B×H×M×K
  at::Tensor lengths;     ///< B, int64, or undefined
  int64_t share = 1;      ///< so many rows of the decoder, side by side, look at each of them

  /// As State::reorder, by rows of the decoder. Copies nothing while every sentence keeps its beams.
  void reorder(const at::Tensor& indices);
};

/// Attention from decoder to encoder. It stays dot-product: the paper synthesizes self-attention only.
class CrossAttention : public torch::nn::Module {
 public:
  explicit CrossAttention(const ModelOptions& options);

  Memory remember(const at::Tensor& encoded, const at::Tensor& lengths) const;  ///< encoded B×M×D
  at::Tensor forward(const at::Tensor& x, const Memory& memory) const;          ///< B×L×D
  /// To look at: B×H×L×M.
  at::Tensor weights(const at::Tensor& x, const Memory& memory) const;

 private:
  Logits logits(const at::Tensor& x, const Memory& memory) const;

  int64_t heads_;
  double scale_, dropout_;
  std::shared_ptr<Linear> query_, key_, value_, output_;
};

}  // namespace synthesizer
