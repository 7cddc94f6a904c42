#pragma once

#include <ATen/core/Tensor.h>

#include "text/batch.h"

namespace synthesizer {

/// A field as the models take it.
struct FieldTensors {
  at::Tensor tokens;   ///< B×L, int64
  at::Tensor lengths;  ///< B, int64; undefined where no row is padded
};
FieldTensors tensors_of(const Field& field);

/// A field whose rows are begin … end as what a decoder is fed (all but the last token) and what it has to
/// say (all but the first).
struct Shifted {
  FieldTensors input;
  at::Tensor targets;  ///< B×L
};
Shifted shifted(const Field& field);

/// The rows of real tokens: hidden B×L×D to n×D, targets B×L to n.
at::Tensor real_rows(const at::Tensor& values, const at::Tensor& lengths);

}  // namespace synthesizer
