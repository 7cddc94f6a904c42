#pragma once

#include <ATen/core/Tensor.h>

#include "attention/logits.h"

namespace synthesizer {

/// What a caller adds to the logits of a layer, and which rows that leaves with nothing to see.
struct AddedLogits {
  at::Tensor shared;     ///< H×L×M for the whole batch, or undefined
  at::Tensor own;        ///< B×H×L×M, each sample's, or undefined
  at::Tensor blind_row;  ///< B or 1 × H or 1 × L×1, boolean: rows in which nothing may be seen; or undefined

  bool defined() const { return shared.defined() || own.defined(); }
  /// What is shared, for shorter sequences.
  AddedLogits corner(int64_t length) const;
};

/// `bias` H×L×L or B×H×L×L is added to the logits; `mask` L×L, B×L×L or B×H×L×L says what may be seen
/// (boolean) or is added as well (-infinity: may not be seen); both may be undefined. `visible` is what the
/// layer hides by itself. Rows of which nothing is left get no -infinity here: their softmax stays finite,
/// and whoever uses it sets them to 0. Throws InvalidInput for other shapes, dtypes or devices; `x` (B×L×D)
/// tells which.
AddedLogits add_to_logits(const at::Tensor& bias, const at::Tensor& mask, const Mask& visible,
                          const at::Tensor& x, int64_t heads);

/// t (B×H×L×anything) with zeros in the rows that see nothing.
at::Tensor without_blind_rows(const at::Tensor& t, const AddedLogits& added);

}  // namespace synthesizer
