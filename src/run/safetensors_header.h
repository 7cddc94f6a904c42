#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// One tensor as a safetensors header describes it; its bytes are [begin, end) of the data after the header.
struct TensorEntry {
  std::string name;
  std::string dtype;  ///< "F32", …
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
};

/// The start of a safetensors file: eight bytes of length (little-endian), then that much JSON.
/// A key of the metadata of weights: what they were quantized to. (int8 of earlier versions has none.)
inline constexpr const char* kQuantizedKey = "quantized";

struct TensorHeader {
  std::vector<TensorEntry> tensors;  ///< in the order the header names them
  std::map<std::string, std::string> metadata;
  uint64_t data = 0;  ///< where in the file the data begin
};

/// Bytes of one element; 0 for a dtype that is not known.
uint64_t dtype_bytes(std::string_view dtype);

/// Parses and checks a header: afterwards every entry lies within the file, fits its shape and dtype, and the
/// entries cover the data without holes or overlaps. `file`: the whole file, or its beginning up to the end
/// of the header; `file_bytes`: the size of the whole file. `name` is the file's name for messages. Throws
/// InvalidInput, "NAME is damaged: …" or "NAME is not a safetensors file: …".
TensorHeader parse_tensor_header(const std::string& name, std::string_view file, uint64_t file_bytes);
inline TensorHeader parse_tensor_header(const std::string& name, std::string_view file) {
  return parse_tensor_header(name, file, file.size());
}

/// The same for a file on disk, of which only the header is read. Throws InvalidInput also where it is
/// missing.
TensorHeader read_tensor_header(const std::string& path);

/// Length and JSON as they stand in the file, padded with spaces so that the data begin at a multiple of 8.
/// Throws InvalidInput where a name or a metadata text is not UTF-8.
std::string write_tensor_header(const std::vector<TensorEntry>& tensors,
                                const std::map<std::string, std::string>& metadata);

}  // namespace synthesizer
