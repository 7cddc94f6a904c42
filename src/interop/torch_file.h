#pragma once

#include <string>

#include "train/named_tensors.h"

namespace synthesizer {

/// The tensors of a file that torch.save wrote: of PyTorch 1.6 and later (a zip archive) or of an earlier
/// one. Nothing in it is run (pickle.h). Throws InvalidInput where it is missing, damaged, or not weights
/// alone.
NamedTensors read_torch_file(const std::string& path);

}  // namespace synthesizer
