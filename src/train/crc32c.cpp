#include "train/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace synthesizer {
namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are read as one number");

/// What each value of a byte does to the sum, for a byte that has 0 to 7 more behind it.
using CrcTables = std::array<std::array<uint32_t, 256>, 8>;
constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82F63B78u : 0u);
    tables[0][byte] = sum;
  }
  for (size_t behind = 1; behind < 8; ++behind) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t sum = tables[behind - 1][byte];
      tables[behind][byte] = (sum >> 8) ^ tables[0][sum & 0xFFu];
    }
  }
  return tables;
}
constexpr auto crc_tables = make_crc_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::string_view data, uint32_t before) {
  uint64_t sum = ~before;
  const char *next = data.data(), *end = next + data.size();
  for (; end - next >= 8; next += 8) {
    uint64_t word = 0;
    std::memcpy(&word, next, 8);
    sum = _mm_crc32_u64(sum, word);
  }
  auto rest = static_cast<uint32_t>(sum);
  for (; next != end; ++next) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(*next));
  return ~rest;
}
#endif

}  // namespace

uint32_t crc32c_by_tables(std::string_view data, uint32_t before) {
  uint32_t sum = ~before;
  for (; data.size() >= 8; data.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, data.data(), 8);
    word ^= sum;
    sum = 0;
    for (size_t byte = 0; byte < 8; ++byte) sum ^= crc_tables[7 - byte][(word >> (8 * byte)) & 0xFFu];
  }
  for (const char byte : data)
    sum = (sum >> 8) ^ crc_tables[0][(sum ^ static_cast<unsigned char>(byte)) & 0xFFu];
  return ~sum;
}

uint32_t crc32c(std::string_view data, uint32_t before) {
#if defined(__x86_64__)
  static const bool instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (instruction) return crc32c_by_instruction(data, before);
#endif
  return crc32c_by_tables(data, before);
}

uint32_t masked_crc32c(std::string_view data) {
  const uint32_t sum = crc32c(data);
  return ((sum >> 15) | (sum << 17)) + 0xA282EAD8u;
}

}  // namespace synthesizer
