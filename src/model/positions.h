#pragma once

#include "attention/declared_module.h"
#include "model/options.h"

namespace synthesizer {

/// How a stack of layers knows the order of tokens. Sinusoidal (Vaswani et al.) and learned positions are
/// added to the embeddings; relative ones (T5) are a bias of the logits, one number for each head and bucket
/// of distances, shared by all layers of the stack.
class Positions : public DeclaredModule {
 public:
  Positions(const ModelOptions& options, bool causal);

  /// x B×L×D, whose first row stands at position `begin`, with the positions added where they are vectors.
  at::Tensor add(const at::Tensor& x, int64_t begin) const;

  /// x B×D, one position per row: row b stands at positions[b] (int64).
  at::Tensor add_at(const at::Tensor& x, const at::Tensor& positions) const;

  /// bias() of every row as decoding asks for it, H×N×N; undefined where positions are vectors.
  at::Tensor all_biases(int64_t length) const;

  /// H×rows×columns for rows from `begin`; undefined where positions are vectors.
  at::Tensor bias(int64_t begin, int64_t rows, int64_t columns) const;

 private:
  bool causal_;
  at::Tensor vectors_;  ///< N×D: sinusoidal or learned
  at::Tensor table_;    ///< buckets×H
};

/// The sinusoids of Vaswani et al., length×width; the width is even.
at::Tensor sinusoids(int64_t length, int64_t width);

/// The same numbers, all sines before all cosines, as Marian has them.
at::Tensor split_sinusoids(int64_t length, int64_t width);

/// T5's bucket of each distance column - row: half of the buckets for short distances one by one, the other
/// half for longer ones on a logarithmic scale up to 128; both directions have their own where not causal.
at::Tensor relative_buckets(int64_t begin, int64_t rows, int64_t columns, bool causal);
inline constexpr int64_t kRelativeBuckets = 32;

}  // namespace synthesizer
