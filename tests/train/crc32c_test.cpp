#include "train/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace synthesizer {
namespace {

std::string counting(int first, int step) {
  std::string bytes(32, '\0');
  for (int i = 0; i < 32; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(first + step * i);
  return bytes;
}

// The answers of RFC 3720, appendix B.4, and the usual check value.
TEST(Crc32c, GivesTheKnownAnswers) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46DD794Eu);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113FDB5Cu);
}

TEST(Crc32c, OfNothingIsZero) {
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Crc32c, SeesEveryFlippedBit) {
  const std::string text = "the quick brown fox";
  for (size_t i = 0; i < text.size() * 8; ++i) {
    std::string other = text;
    other[i / 8] = static_cast<char>(other[i / 8] ^ (1 << (i % 8)));
    EXPECT_NE(crc32c(other), crc32c(text)) << "bit " << i;
  }
}

// The first eight bytes of every event file TensorFlow writes, and the sum that follows them.
TEST(Crc32c, IsMaskedAsTensorFlowDoes) {
  EXPECT_EQ(masked_crc32c(std::string("\x18\0\0\0\0\0\0\0", 8)), 0x224B7FA3u);
  EXPECT_EQ(masked_crc32c(""), 0xA282EAD8u);
}

TEST(Crc32c, TheInstructionAndTheTablesAgree) {
  std::string data(1000, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * i * 31 + i / 7);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (const size_t bytes : {0, 1, 7, 8, 9, 15, 64, 500}) {
      const std::string_view part = std::string_view(data).substr(begin, bytes);
      EXPECT_EQ(crc32c(part), crc32c_by_tables(part)) << begin << " " << bytes;
    }
  }
}

TEST(Crc32c, PieceByPieceIsTheWhole) {
  const std::string_view whole = "it was the best of times, it was the worst of times";
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    EXPECT_EQ(crc32c(whole.substr(cut), crc32c(whole.substr(0, cut))), crc32c(whole));
    EXPECT_EQ(crc32c_by_tables(whole.substr(cut), crc32c_by_tables(whole.substr(0, cut))), crc32c(whole));
  }
}

}  // namespace
}  // namespace synthesizer
