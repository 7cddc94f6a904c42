#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace synthesizer {

/// Makes impossible what would repeat n tokens that are in the output already: log_probabilities B×V, changed
/// in place, and the output so far of each row. n = 0 forbids nothing.
void forbid_repeats(const at::Tensor& log_probabilities,
                    const std::vector<const std::vector<int64_t>*>& outputs, int64_t n);

}  // namespace synthesizer
