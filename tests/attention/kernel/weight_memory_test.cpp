// Memory that weights share.

#include "attention/kernel/weight_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "attention/kernel/mapped_memory.h"

namespace synthesizer::kernel {
namespace {

using testing::mapped_memory;

TEST(WeightMemory, PiecesAreAlignedAndApart) {
  std::vector<std::shared_ptr<float[]>> pieces;
  std::vector<size_t> counts;
  for (const size_t count : {1, 31, 512 * 512, 3, 512 * 32000, 0, 512 * 2048, 7}) {
    auto piece = weight_memory(count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.get()) % 128, 0U);
    std::fill_n(piece.get(), count, static_cast<float>(pieces.size()));
    pieces.push_back(std::move(piece));
    counts.push_back(count);
  }
  for (size_t n = 0; n < pieces.size(); ++n) {
    for (size_t k = 0; k < counts[n]; ++k) ASSERT_EQ(pieces[n][k], static_cast<float>(n));
  }
}

TEST(WeightMemory, IsFreedWithTheLastPieceOfABlock) {
  const int64_t before = mapped_memory();
  std::shared_ptr<float[]> kept;
  {
    std::vector<std::shared_ptr<float[]>> pieces;
    for (int n = 0; n < 20; ++n) pieces.push_back(weight_memory(1 << 22));  // 16 MB each
    EXPECT_GE(mapped_memory() - before, 320'000);
    kept = pieces[7];
    std::fill_n(kept.get(), 1 << 22, 3.0f);
  }
  EXPECT_LE(mapped_memory() - before, 70'000);
  EXPECT_EQ(kept[(1 << 22) - 1], 3);
  kept.reset();
  EXPECT_LE(mapped_memory() - before, 35'000);
}

TEST(WeightMemory, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int round = 0; round < 20; ++round) {
        std::vector<std::shared_ptr<float[]>> own;
        for (int n = 0; n < 30; ++n) {
          own.push_back(weight_memory(1000));
          std::fill_n(own.back().get(), 1000, static_cast<float>(100 * t + n));
        }
        for (int n = 0; n < 30; ++n) {
          for (int k = 0; k < 1000; ++k) wrong[t] += own[n][k] != static_cast<float>(100 * t + n);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace synthesizer::kernel
