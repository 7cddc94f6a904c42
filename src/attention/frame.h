#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/mixture.h"
#include "attention/options.h"
#include "attention/state.h"
#include "attention/weight_cache.h"

namespace synthesizer {

/// Trained parameters, and multiply-adds for one sequence; see Frame::count.
struct Count {
  int64_t synthesis = 0;  ///< parameters of S
  int64_t total = 0;      ///< with the value and output projections
  int64_t macs = 0;
};

/// The multi-head frame around a synthesizing function: projections, heads, masks, dropout, decoding.
///
///     Y = softmax(S(X) + M) · X W_V,        out = concat_heads(Y) W_O
///
/// It holds no tensors. The C++ module (attention.h) and the Python one own them and pass them with every
/// call, in the order of parameters().
class Frame {
 public:
  /// Throws InvalidInput where the options cannot be met.
  explicit Frame(AttentionOptions options);

  const AttentionOptions& options() const { return options_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<at::Tensor> initialise(at::ScalarType dtype = at::kFloat) const;
  /// The weights are the same for every sample.
  bool global() const { return mixture_->global(); }

  /// x B×L×D to B×L×D, any L ≤ max_length. `lengths` (B, int64) or undefined: right padding; padded columns
  /// get no weight, padded rows are 0. Dropout only where `training`. `bias` (H×L×L) or undefined: added to
  /// the logits of every sample, as relative positions are.
  at::Tensor forward(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                     bool training, const at::Tensor& bias = {}) const;

  /// The weights without dropout: B×H×L×L, or 1×H×L×L where they depend on no token and on no lengths.
  at::Tensor weights(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                     const at::Tensor& bias = {}) const;

  /// Decoding, one position at a time: x B×D to B×D, equal to the row of forward. Causal layers only;
  /// no gradients. The state is brought up to date. `bias`: this row's, H×1×(position + 1).
  State start(int64_t batch) const;
  at::Tensor step(const std::vector<at::Tensor>& tensors, const at::Tensor& x, State& state,
                  const at::Tensor& bias = {}) const;

  /// Exact counts; multiply-adds are those of all matrix products of one sequence of that length, the whole
  /// square of S also where a causal mask makes half of it needless.
  Count count(int64_t length) const;

  /// The options of this layer for a larger max_length, under which what it has learnt keeps its meaning.
  AttentionOptions grown(int64_t max_length) const;

  /// Drops weights kept from earlier calls without gradients (see WeightCache).
  void forget() const { cache_->clear(); }

 private:
  void check_input(const std::vector<at::Tensor>& tensors, const at::Tensor& x, int64_t rank) const;
  /// Which entries count for x, B×L×D; throws where it is too long or the lengths don't fit it.
  Mask sequence_mask(const at::Tensor& x, const at::Tensor& lengths) const;
  at::Tensor project(const Weights& weights, const char* name, const at::Tensor& x) const;
  /// The weights of rows and columns below `length`, kept between calls without gradients.
  WeightCache::Entry kept_weights(const std::vector<at::Tensor>& tensors, int64_t length) const;
  bool keeps_weights(const at::Tensor& value) const;

  AttentionOptions options_;
  std::unique_ptr<Mixture> mixture_;
  std::vector<Parameter> parameters_;
  std::unique_ptr<WeightCache> cache_;
};

/// The tensors of a layer carried over to one with a larger max_length: what was there is copied, the rest
/// is initialised.
std::vector<at::Tensor> grow(const Frame& from, const std::vector<at::Tensor>& tensors, const Frame& to);

}  // namespace synthesizer
