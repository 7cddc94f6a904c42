#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/step_model.h"

namespace synthesizer {

/// Copies between tensors and vectors.
std::vector<float> float_values(const at::Tensor& values);
std::vector<int64_t> integer_values(const at::Tensor& values);
at::Tensor tensor_of(const std::vector<int64_t>& values);

/// Keeps these rows of the model, in this order. Does nothing where they are all rows in their order, or
/// where none is left.
void select_rows(StepModel& model, const std::vector<int64_t>& rows);

}  // namespace synthesizer
