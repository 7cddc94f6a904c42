#pragma once

#include <cstdint>

#include "run/safetensors_header.h"

namespace synthesizer {

/// What is trained in a model, and which part of it makes the alignment: all below `attention.logits.`, and
/// what stands in its place in the baselines (docs/parameters.md). Fixed tables are in the file but not
/// trained.
struct ParameterCount {
  int64_t total = 0, synthesis = 0;
};

ParameterCount count_parameters(const TensorHeader& weights);

}  // namespace synthesizer
