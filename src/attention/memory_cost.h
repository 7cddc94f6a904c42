#pragma once

#include <vector>

#include "attention/parameter.h"

namespace synthesizer {

/// Throws std::runtime_error where these parameters, in float32 and for so many layers, cannot fit into the
/// machine's memory: what they cost, and the largest of them with its shape. Nothing is allocated.
void check_fits_memory(const std::vector<Parameter>& parameters, int64_t layers = 1);

}  // namespace synthesizer
