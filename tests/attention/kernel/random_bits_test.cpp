// The generator behind dropout: known values, so that masks stay what they are from version to version, and
// bits without visible order.

#include "attention/kernel/random_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace synthesizer::kernel {
namespace {

TEST(RandomBits, mix64_is_splitmix64) {
  // The first outputs of the published generator for the seed 0 (each state is the last plus the increment).
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFull);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15ull), 0x6E789E6AA1B965F4ull);
  EXPECT_EQ(mix64(2 * 0x9E3779B97F4A7C15ull), 0x06C45D188009454Full);
}

TEST(RandomBits, row_keys_differ_in_every_argument) {
  std::set<uint64_t> keys;
  for (int64_t seed : {-1, 0, 1, 2})
    for (int64_t matrix = 0; matrix < 20; ++matrix)
      for (int64_t row = 0; row < 100; ++row) keys.insert(row_key(seed, matrix, row));
  EXPECT_EQ(keys.size(), 4u * 20 * 100);
}

TEST(RandomBits, each_bit_is_set_half_of_the_time) {
  constexpr int kDraws = 200000;
  std::array<int, 32> set{};
  for (int n = 0; n < kDraws; ++n) {
    const uint32_t bits = random_bits(row_key(7, n % 5, n / 1000), static_cast<uint32_t>(n % 1000));
    for (int i = 0; i < 32; ++i) set[i] += (bits >> i) & 1;
  }
  for (int i = 0; i < 32; ++i) EXPECT_NEAR(set[i], kDraws / 2, 5 * std::sqrt(kDraws / 4.0)) << "bit " << i;
}

TEST(RandomBits, neighbouring_columns_differ_in_half_of_the_bits) {
  double flips = 0;
  constexpr int kRows = 500, kColumns = 200;
  for (int row = 0; row < kRows; ++row) {
    const uint64_t key = row_key(3, 0, row);
    for (uint32_t j = 0; j < kColumns; ++j)
      flips += std::popcount(random_bits(key, j) ^ random_bits(key, j + 1));
  }
  const double draws = kRows * kColumns * 32.0;
  EXPECT_NEAR(flips / draws, 0.5, 5 * 0.5 / std::sqrt(draws));
}

TEST(RandomBits, threshold_cuts_off_the_share) {
  EXPECT_EQ(drop_threshold(0), 0u);
  EXPECT_EQ(drop_threshold(0.5), 0x80000000u);
  EXPECT_EQ(drop_threshold(0.25), 0x40000000u);
  for (double p : {0.1, 0.3, 0.9}) {
    int below = 0;
    constexpr int kDraws = 100000;
    for (int n = 0; n < kDraws; ++n)
      below += random_bits(row_key(1, 2, n / 300), n % 300) < drop_threshold(p);
    EXPECT_NEAR(below, kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << p;
  }
}

}  // namespace
}  // namespace synthesizer::kernel
