#pragma once

#include <string>
#include <vector>

#include "task/task.h"

namespace synthesizer {

struct ImportOptions {
  std::string folder;                ///< of Hugging Face, or Marian's model file
  std::vector<std::string> ignored;  ///< settings that the user wants ignored
};

/// A model of another program as a task of ours, with its weights and tokenizers: see docs/importing.md for
/// the families. Throws InvalidInput where the folder holds no model, one of another family, or something
/// that cannot be had here, which the message names.
std::unique_ptr<Task> import_model(const ImportOptions& options);

/// The names of the families, for help: "marian, t5".
std::vector<std::string> importable_families();

}  // namespace synthesizer
