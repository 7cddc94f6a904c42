#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "text/mapped_file.h"

namespace synthesizer {

/// A file of weights by memory map. Throws InvalidInput where it is missing, a folder, or empty.
inline MappedFile map_weights(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) invalid(fmt::format("{} is not a file", path));
  if (std::filesystem::file_size(path) == 0) invalid(fmt::format("{} is damaged: it is empty", path));
  return MappedFile(path);
}

}  // namespace synthesizer
