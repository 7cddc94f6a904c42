#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "text/mapped_file.h"

namespace synthesizer {

// Files of other programs' models, as all readers here open them. Each throws InvalidInput where a file is
// missing, or is a pointer of Git LFS that stands for it.

/// A file of weights by memory map; it must not be empty.
MappedFile map_weights(const std::string& path);

/// The file's path in the folder; `what` says in the message what it is for.
std::string needed_file(const std::string& folder, const std::string& name, const std::string& what);

/// The JSON object in a file. Throws InvalidInput where it is not one, or is nested deeper than the files of
/// any model: to print and to destroy a value takes as many calls as it is deep.
nlohmann::json read_json_object(const std::string& path);

/// Throws InvalidInput where a pointer of Git LFS stands in place of the file.
void refuse_lfs_pointer(const std::string& path);

/// A name or value from a file, for a message of one line: its first 100 bytes.
std::string shortened(std::string_view text);

}  // namespace synthesizer
