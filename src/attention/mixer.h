#pragma once

#include <memory>
#include <vector>

#include "attention/added_logits.h"
#include "attention/layer_weights.h"
#include "attention/options.h"
#include "attention/packed_rows.h"
#include "attention/parameter.h"
#include "attention/slots.h"
#include "attention/state.h"

namespace synthesizer {

/// Trained parameters, and multiply-adds for one sequence; see Mixer::count.
struct Count {
  int64_t synthesis = 0;  ///< parameters that make the weights between positions
  int64_t total = 0;      ///< with the projections of the input and the output
  int64_t macs = 0;
};

/// Base class of all layers that combine positions: the paper's attention variants (multi_head_attention.h)
/// and the baselines (baselines.h). It checks the input, zeroes padding, counts parameters and handles
/// growth.
///
/// It holds no tensors. The C++ module (attention.h) and the Python module own them and pass them with every
/// call. Nothing is stored between calls: all functions are const, and threads may share the weights.
class Mixer {
 public:
  virtual ~Mixer() = default;

  const AttentionOptions& options() const { return options_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<at::Tensor> initialise(at::ScalarType dtype = at::kFloat) const;

  /// The weights are the same for every sample.
  virtual bool global() const = 0;
  /// Whether the layer has logits for all pairs of positions: a bias can be added to them, and weights()
  /// returns their softmax.
  virtual bool supports_bias() const { return false; }
  /// Whether the result depends on the order of the positions even without a bias or position vectors.
  virtual bool is_position_aware() const { return false; }

  /// x B×L×D to B×L×D, any L ≤ max_length. `lengths` (B, int64) or undefined: right padding; padded columns
  /// get no weight, padded rows are 0. Dropout only where `training`.
  ///
  /// `bias` (H×L×L or B×H×L×L) is added to the logits, as relative positions are; `mask` (L×L, B×L×L or
  /// B×H×L×L) is boolean (true: may be seen) or added as well. Both apply beside causality and lengths; a row
  /// in which nothing may be seen is 0, as padded rows are. Errors unless supports_bias().
  at::Tensor forward(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths, bool training,
                     const at::Tensor& bias = {}, const at::Tensor& mask = {}) const;

  /// The same without padding: x N×D, of packed rows (each length ≤ max_length), to N×D. Only a bias of
  /// H×L×L. Rows that are to have the bits of each sample alone have those of forward() without lengths, in a
  /// prepared layer.
  at::Tensor forward_packed(const LayerWeights& all, const at::Tensor& x, const PackedRows& rows,
                            bool training, const at::Tensor& bias = {}) const;

  /// The weights without dropout: B×H×L×L, or 1×H×L×L where they depend on no token, on no lengths and on no
  /// bias or mask of each sample's own. An error where there are none.
  at::Tensor weights(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                     const at::Tensor& bias = {}, const at::Tensor& mask = {}) const;

  /// Decoding, one position at a time: x B×D to B×D, equal to the row of forward. Causal layers only;
  /// no gradients. The state is brought up to date. `bias`: this row's, H×1×(position + 1).
  State start(int64_t batch) const;
  at::Tensor step(const LayerWeights& all, const at::Tensor& x, State& state,
                  const at::Tensor& bias = {}) const;

  /// The same for texts that begin and end at different times: row b of x (B×D) continues a slot of its own
  /// at a position of its own. Each row has exactly the bits that step() gives for it alone. `bias`: of all
  /// positions, H×N×N, where the slots were started as `biased`. float32 on the CPU; a prepared layer.
  SlotCache start_slots(const LayerWeights& all, int64_t slots, bool biased = false) const;
  at::Tensor step_slots(const LayerWeights& all, const at::Tensor& x, SlotCache& cache, const SlotRows& rows,
                        const at::Tensor& bias = {}) const;

  /// Exact counts; multiply-adds are those of all products of one sequence of that length, the whole square
  /// of S also where a causal mask makes half of it needless.
  Count count(int64_t length) const;

  /// The options of this layer for a larger max_length, under which what it has learnt keeps its meaning.
  AttentionOptions grown(int64_t max_length) const;

  /// The tensors made ready for inference, once: packed matrices, and the weights themselves where they
  /// depend on no token and the layer is causal. Immutable: later changes of the tensors' numbers may or may
  /// not be seen. No gradients. Throws InvalidInput unless all are float32 on the CPU. `weights`: forms that
  /// are there already (quantized ones) stay.
  LayerWeights prepare(LayerWeights weights) const;

 protected:
  /// Throws InvalidInput where the options cannot be met.
  explicit Mixer(AttentionOptions options);
  /// Adds to parameters(); for constructors.
  void declare(const std::vector<Parameter>& parameters);

  // Implementations of forward, weights and step. The input has been checked, and `lengths` are on the device
  // of x. The default implementations of weights_impl and step_impl throw InvalidInput: for layers without
  // attention weights and layers that are never causal.
  virtual at::Tensor forward_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                                  bool training, const AddedLogits& added) const = 0;
  /// Where it is not overridden, the rows are unpacked before forward_impl and packed behind it; where each
  /// sample is to have its own bits, forward_impl is called for each length.
  virtual at::Tensor forward_packed_impl(const LayerWeights& all, const at::Tensor& x, const PackedRows& rows,
                                         bool training, const AddedLogits& added) const;
  virtual at::Tensor weights_impl(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                                  const AddedLogits& added) const;
  virtual at::Tensor step_impl(const LayerWeights& all, const at::Tensor& x, State& state,
                               const at::Tensor& bias) const;
  virtual at::Tensor step_slots_impl(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                                     const SlotRows& rows, const at::Tensor& bias) const;
  /// Logits of all positions that depend on no token but on the row, H×N×N, as step_slots_impl needs them, or
  /// undefined.
  virtual at::Tensor row_tables(const LayerWeights&, bool) const { return {}; }
  /// Sets precomputed_weights where the layer is causal and they depend on no token.
  virtual void precompute_weights(LayerWeights& all) const {}
  virtual int64_t macs(int64_t length) const = 0;
  /// Which entries count: under a causal mask rows that count see no padding.
  Mask mask(const at::Tensor& lengths) const;
  /// Before a layer grows, with old entries kept as the corner of the new tensors: sets the options under
  /// which they keep their meaning, or throws InvalidInput where there are none.
  virtual void prepare_growth(AttentionOptions& larger) const {}

 private:
  void check_input(const LayerWeights& all, const at::Tensor& x, int64_t rank, bool biased) const;
  /// The same for a whole sequence; gives the lengths where x is.
  at::Tensor checked_lengths(const at::Tensor& x, const at::Tensor& lengths) const;

  AttentionOptions options_;
  std::vector<Parameter> parameters_;
};

/// The layer that options.attention names: a variant or a mixture (spec.h), or a baseline (baselines.h).
std::unique_ptr<Mixer> make_mixer(AttentionOptions options);

/// The tensors of a layer carried over to one with a larger max_length: what was there is copied, the rest
/// is initialised.
std::vector<at::Tensor> grow(const Mixer& from, const std::vector<at::Tensor>& tensors, const Mixer& to);

}  // namespace synthesizer
