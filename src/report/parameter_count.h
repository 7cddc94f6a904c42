#pragma once

#include <cstdint>
#include <string>

namespace synthesizer {

/// What is trained in a model, and which part of it makes the alignment: all below `attention.logits.`, and
/// what stands in its place in the rivals (docs/parameters.md). Fixed tables are in the file but not trained.
struct ParameterCount {
  int64_t total = 0, synthesis = 0;
};

/// From the header of a safetensors file; the weights are not read. Throws InvalidInput where the file is
/// missing or damaged.
ParameterCount count_parameters(const std::string& path);

}  // namespace synthesizer
