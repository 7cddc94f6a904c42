#pragma once

#include <vector>

#include "attention/declared_module.h"
#include "model/halting.h"
#include "model/layer.h"
#include "model/positions.h"

namespace synthesizer {

/// The decoding state of a stack of layers.
struct StackState {
  std::vector<LayerState> layers;
  int64_t position = 0;

  void reorder(const at::Tensor& indices);
};

/// The same for texts that begin and end at different times; see SlotCache.
struct StackSlots {
  std::vector<LayerSlots> layers;
  at::Tensor bias;  ///< of relative positions, H×N×N, or undefined

  /// Slot slots[n] will decode against row n of the encoder's output (B×M×D), of which lengths[n] rows count.
  void remember(const std::vector<int64_t>& slots, const at::Tensor& encoded,
                const std::vector<int64_t>& lengths);
};

/// A sequence of layers, with positions added to its input and, with "pre" norms, a final norm: an encoder, a
/// decoder with cross-attention, or a language model.
///
/// With model.recurrent_depth = T it is a Universal Transformer (Dehghani et al. 2018): one layer, applied T
/// times, and before each time the positions and a vector for the time are added again. With
/// model.halting_threshold each position stops by itself, after at most T times (halting.h).
class Stack : public DeclaredModule {
 public:
  Stack(const ModelOptions& options, Side side, bool cross);

  /// x B×L×D, embedded tokens without positions.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& encoded = {},
                     const at::Tensor& encoded_lengths = {});

  /// The same for inference, without an encoder: each sample has exactly the bits that it has alone, in a
  /// prepared model. Rows of padding are 0. Only where packs().
  at::Tensor forward_apart(const at::Tensor& x, const at::Tensor& lengths);
  /// Whether layers can work on packed rows. (A Universal Transformer adds positions before every layer, and
  /// halts position by position.)
  bool packs() const { return !times_.defined(); }

  /// Decoding: x B×D, one position at a time, no gradients.
  StackState start(int64_t batch, const at::Tensor& encoded = {},
                   const at::Tensor& encoded_lengths = {}) const;
  at::Tensor step(const at::Tensor& x, StackState& state);

  StackSlots start_slots(int64_t slots) const;
  at::Tensor step_slots(const at::Tensor& x, StackSlots& state, const SlotRows& rows) const;

  const std::vector<std::shared_ptr<Layer>>& layers() const { return layers_; }

  /// Whether training keeps only the inputs of layers and computes the layers again in its backward pass
  /// (recompute.h): less memory, the same bits, a third more work.
  void recompute_layers(bool recompute) { recompute_ = recompute; }

 private:
  at::Tensor enter(const at::Tensor& x, int64_t begin) const;
  /// x B×L×D through all layers and the final norm; `rows`: packed on the way.
  at::Tensor apply_layers(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& encoded,
                          const at::Tensor& encoded_lengths, const PackedRowsPtr& rows) const;
  at::Tensor apply_layer(Layer& layer, const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                         const at::Tensor& encoded, const at::Tensor& encoded_lengths,
                         const PackedRowsPtr& rows) const;
  /// How often a layer is applied: as there are layers, or recurrent_depth.
  size_t depth() const { return times_.defined() ? static_cast<size_t>(times_.size(0)) : layers_.size(); }
  const std::shared_ptr<Layer>& layer_at(size_t n) const { return layers_[times_.defined() ? 0 : n]; }
  /// Applies the layers to y, one after another. `layer` is called with the state that goes into application
  /// n, and n. `stop_early`: where all positions have stopped, the rest is left out.
  template <class Before, class Layer>
  at::Tensor apply(at::Tensor y, const Before& before, const Layer& layer, bool stop_early,
                   const at::Tensor& lengths = {}) const;
  /// Before application n: nothing, but in a Universal Transformer the position and the time.
  at::Tensor before(const at::Tensor& x, size_t n, int64_t begin) const;

  double dropout_;
  std::string name_;
  std::shared_ptr<Positions> positions_;
  std::vector<std::shared_ptr<Layer>> layers_;
  std::shared_ptr<Norm> norm_, embedding_norm_;  ///< null where there is none
  at::Tensor times_;                             ///< T×D, undefined where each layer is applied once
  double halting_threshold_;
  at::Tensor halting_weight_, halting_bias_;  ///< D and 1, undefined without a threshold
  bool recompute_ = false;
};

template <class Before, class Layer>
at::Tensor Stack::apply(at::Tensor y, const Before& before, const Layer& layer, bool stop_early,
                        const at::Tensor& lengths) const {
  if (!halting_weight_.defined()) {
    for (size_t n = 0; n < depth(); ++n) y = layer(before(y, n), n);
    return y;
  }
  Halting halting(halting_weight_, halting_bias_, halting_threshold_, static_cast<int64_t>(depth()));
  for (size_t n = 0; n < depth(); ++n) {
    const auto entering = before(y, n);
    halting.decide(entering);
    y = halting.apply(y, layer(entering, n));
    if (stop_early && halting.done()) break;
  }
  if (y.dim() == 3) report_pondering(halting, lengths);
  return halting.output();
}

}  // namespace synthesizer
