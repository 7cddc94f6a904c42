#pragma once

#include <cstdint>
#include <string_view>

namespace synthesizer {

/// CRC-32C (Castagnoli: reflected polynomial 0x82F63B78), as in iSCSI, ext4 and TFRecord files. `before`: the
/// sum of what comes before this data, 0 where nothing does. By the processor's own instruction where it has
/// one: several gigabytes a second.
uint32_t crc32c(std::string_view data, uint32_t before = 0);
/// The same by tables, on every processor.
uint32_t crc32c_by_tables(std::string_view data, uint32_t before = 0);

/// The form TFRecord files store: rotated and shifted, so that the sum of data that holds sums of its own
/// is still a good one.
uint32_t masked_crc32c(std::string_view data);

}  // namespace synthesizer
