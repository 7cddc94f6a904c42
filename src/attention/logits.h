#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace synthesizer {

/// The answer of a synthesizing function: the logits S, not as a matrix but as the parts it is made of.
///
///     S = scale · query keyᵀ  +  row columnᵀ  +  table_scale · table  +  left ⊙ right  +  bias
///
/// Each part may be absent (undefined tensors); where all are, S is zero. The kernel forms S block by
/// block from these, so that no L×M matrix per sample is ever written to memory (unless a caller brings one:
/// `bias`).
///
/// Shape letters as everywhere: B batch, H heads, L rows, M columns; F, G widths of features.
struct Logits {
  at::Tensor query;  ///< B×H×L×F, features of the rows
  at::Tensor key;    ///< B×H×M×F, features of the columns, each sample's own
  double scale = 1;  ///< of the product of query and key alone

  at::Tensor row;     ///< B×H×L×G, features of the rows, or H×L×G where they depend on no token
  at::Tensor column;  ///< H×M×G, features of the columns, the same for the whole batch

  at::Tensor table;        ///< H×L×M, or H×1×M for all L rows; the same for the whole batch
  at::Tensor table_scale;  ///< H numbers or one for all heads, float32 or as the table; undefined: 1

  at::Tensor left;    ///< B×H×L×a, first outer factor: S_ij += left_i[j mod a] · right_i[j div a]
  at::Tensor right;   ///< B×H×L×b, second outer factor
  bool tile = false;  ///< right_i[j mod b] in place of right_i[j div a]

  /// L where no part has it: beside a table of one row, or no part at all. Not given: L = M.
  std::optional<int64_t> rows = std::nullopt;

  at::Tensor bias;  ///< B×H×L×M, each sample's own; any stride may be 0. -infinity hides an entry

  /// Depends on no token: the same weights serve every sample.
  bool global() const {
    return !query.defined() && (!row.defined() || row.dim() == 3) && !left.defined() && !bias.defined();
  }
};

/// Which entries count. Undefined lengths: all of them.
struct Mask {
  bool causal = false;        ///< row i sees columns 0 … i; needs L = M
  at::Tensor row_lengths;     ///< B, int64: rows from there on give zeros
  at::Tensor column_lengths;  ///< B, int64: columns from there on get no weight
};

/// Dropout on the weights. The mask is a function of the seed and of the entry's place alone, so that
/// backward makes it again; one for each sample, or one for the whole batch where the logits are global.
struct Dropout {
  double probability = 0;
  int64_t seed = 0;
  at::Tensor drawn;  ///< one int64 that is added to the seed, for graphs that draw it when they run
};

}  // namespace synthesizer
