#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace synthesizer {

// The checksum of a safetensors file: CRC-32C of all its bytes, as eight digits under "crc32c" in the
// metadata of its header, which other readers of the format leave alone. The digits themselves count as
// zeros.

inline constexpr const char* kChecksumKey = "crc32c";
inline constexpr const char* kNoChecksum = "00000000";  ///< what stands there while the sum is being made

/// Puts the sum of a file's bytes into its header, which was written with kNoChecksum in its metadata.
/// `sum`: of the header as it was, and all that follows it.
void set_checksum(std::string& header, uint32_t sum);

/// Throws InvalidInput, "PATH is damaged: …", where the file has a checksum and its bytes have another sum. A
/// file without one, as other programs write them, passes.
void check_checksum(const std::string& path, std::string_view file, uint64_t header_bytes);

}  // namespace synthesizer
