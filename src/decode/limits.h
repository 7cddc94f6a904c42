#pragma once

#include <cstdint>
#include <vector>

#include "decode/options.h"
#include "model/step_model.h"

namespace synthesizer {

/// How many tokens each sentence may have at most, the end not counted: the least of what the caller, the
/// options and the model allow. The model spends a step on each token and one on begin. Throws InvalidInput
/// where the options are out of range or there is not one maximum, of at least 0, for each row of the model.
std::vector<int64_t> output_limits(const StepModel& model, std::vector<int64_t> max_lengths,
                                   const DecodeOptions& options);

}  // namespace synthesizer
