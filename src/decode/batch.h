#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "model/step_model.h"

namespace synthesizer {

/// Numbers of a tensor where plain code can read them, and back.
std::vector<float> floats(const at::Tensor& values);
std::vector<int64_t> wholes(const at::Tensor& values);
at::Tensor tensor_of(const std::vector<int64_t>& values);

/// Lets the model go on with these of its rows. Nothing is moved where they are all of them in their order,
/// nor where none is left.
void go_on_with(StepModel& model, const std::vector<int64_t>& rows);

}  // namespace synthesizer
