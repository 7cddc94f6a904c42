#include "train/crc32c.h"

#include <array>

namespace synthesizer {
namespace {

/// What each value of the lowest byte does to the sum.
constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82F63B78u : 0u);
    table[byte] = sum;
  }
  return table;
}

constexpr auto table = make_table();

}  // namespace

uint32_t crc32c(std::string_view data) {
  uint32_t sum = 0xFFFFFFFFu;
  for (const unsigned char byte : data) sum = (sum >> 8) ^ table[(sum ^ byte) & 0xFFu];
  return ~sum;
}

uint32_t masked_crc32c(std::string_view data) {
  const uint32_t sum = crc32c(data);
  return ((sum >> 15) | (sum << 17)) + 0xA282EAD8u;
}

}  // namespace synthesizer
