#pragma once

#include <vector>

#include "attention/declared_module.h"
#include "model/layer.h"
#include "model/positions.h"

namespace synthesizer {

/// What a stack of layers remembers while it decodes.
struct StackState {
  std::vector<LayerState> layers;
  int64_t position = 0;

  void reorder(const at::Tensor& indices);
};

/// Layers one upon another, with the positions below them and, where norms come before, a last norm above:
/// an encoder, a decoder with an encoder to look at, or a language model.
///
/// With model.recurrent_depth = T it is a Universal Transformer (Dehghani et al. 2018): one layer, applied T
/// times, and before each time the positions and a vector for the time are added again.
class Stack : public DeclaredModule {
 public:
  Stack(const ModelOptions& options, Side side, bool cross);

  /// x B×L×D, embedded tokens without positions.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& encoded = {},
                     const at::Tensor& encoded_lengths = {});

  /// Decoding: x B×D, one position at a time, no gradients.
  StackState start(int64_t batch, const at::Tensor& encoded = {},
                   const at::Tensor& encoded_lengths = {}) const;
  at::Tensor step(const at::Tensor& x, StackState& state);

  const std::vector<std::shared_ptr<Layer>>& layers() const { return layers_; }

 private:
  at::Tensor enter(const at::Tensor& x, int64_t begin) const;
  /// How often a layer is applied: as there are layers, or recurrent_depth.
  size_t depth() const { return times_.defined() ? static_cast<size_t>(times_.size(0)) : layers_.size(); }
  const std::shared_ptr<Layer>& layer_at(size_t n) const { return layers_[times_.defined() ? 0 : n]; }
  /// Before application n: nothing, but in a Universal Transformer the position and the time.
  at::Tensor before(const at::Tensor& x, size_t n, int64_t begin) const;

  double dropout_;
  std::string name_;
  std::shared_ptr<Positions> positions_;
  std::vector<std::shared_ptr<Layer>> layers_;
  std::shared_ptr<Norm> norm_;
  at::Tensor times_;  ///< T×D, undefined where each layer is applied once
};

}  // namespace synthesizer
