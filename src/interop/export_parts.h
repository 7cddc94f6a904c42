#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/options.h"

// What exports to other programs share.
namespace synthesizer {

/// Throws InvalidInput, with the program's name, where a layer of these sides has another attention than V.
void check_vanilla_layers(const ModelOptions& model, const std::vector<Side>& sides, const char* program);

/// Makes the folder, which must be new, and fills it by `write`. Where that throws, nothing is left behind.
template <class Write>
void write_new_folder(const std::string& folder, const Write& write) {
  std::filesystem::create_directories(folder);
  try {
    write();
  } catch (...) {
    std::error_code none;
    std::filesystem::remove_all(folder, none);
    throw;
  }
}

}  // namespace synthesizer
