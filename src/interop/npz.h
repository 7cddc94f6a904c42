#pragma once

#include <string>

#include "train/named_tensors.h"

namespace synthesizer {

/// The arrays of a file that NumPy's savez wrote, as Marian keeps its models. Throws InvalidInput where it is
/// missing or damaged, or an array is of a kind that tensors cannot have.
NamedTensors read_npz(const std::string& path);

}  // namespace synthesizer
