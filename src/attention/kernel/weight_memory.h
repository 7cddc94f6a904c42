#pragma once

#include <cstddef>
#include <memory>

namespace synthesizer::kernel {

/// Memory for floats that are written once and then read from end to end for every token, aligned for vector
/// code. Few rows take as long as reading the weights does, and that is a quarter faster on pages of 2 MB
/// than of 4 kB. A weight alone rarely fills such pages, so the weights of a model come from common blocks; a
/// block is freed with the last of its weights. Thread-safe. Throws std::bad_alloc.
std::shared_ptr<float[]> weight_memory(size_t count);

}  // namespace synthesizer::kernel
