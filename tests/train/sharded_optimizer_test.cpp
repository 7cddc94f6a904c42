// How parameters are shared out over processes. What the processes do with them:
// tests/cli/test_sharded_optimizer.py.

#include "train/sharded_optimizer.h"

#include <gtest/gtest.h>

#include <numeric>

namespace synthesizer {
namespace {

int64_t total_of(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

std::vector<int64_t> numbers_by_rank(const std::vector<ParameterPiece>& pieces, int64_t processes) {
  std::vector<int64_t> numbers(static_cast<size_t>(processes));
  for (const ParameterPiece& piece : pieces) numbers[static_cast<size_t>(piece.rank)] += piece.count;
  return numbers;
}

/// Every number of every parameter once, in order, and the ranks in order too.
void expect_complete(const std::vector<ParameterPiece>& pieces, const std::vector<int64_t>& sizes) {
  size_t next = 0;
  int64_t rank = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (int64_t begin = 0; begin < sizes[i];) {
      ASSERT_LT(next, pieces.size());
      const ParameterPiece& piece = pieces[next++];
      EXPECT_EQ(piece.parameter, i);
      EXPECT_EQ(piece.begin, begin);
      EXPECT_GT(piece.count, 0);
      EXPECT_GE(piece.rank, rank);
      rank = piece.rank;
      begin += piece.count;
    }
  }
  EXPECT_EQ(next, pieces.size());
}

const std::vector<std::vector<int64_t>> kSizes = {
    {}, {1}, {64}, {63, 1, 65}, {1000000}, {7, 100000, 3, 50000, 512, 512}, {0, 300, 0, 300}, {512 * 512, 5},
};

TEST(ShareOut, GivesEveryNumberToOneProcess) {
  for (const auto& sizes : kSizes) {
    for (const int64_t processes : {1, 2, 3, 8, 100}) {
      for (const bool whole : {false, true}) {
        const auto pieces = share_out(sizes, processes, whole);
        expect_complete(pieces, sizes);
        for (const ParameterPiece& piece : pieces) {
          EXPECT_LT(piece.rank, processes);
          if (whole) EXPECT_EQ(piece.count, sizes[piece.parameter]);
        }
      }
    }
  }
}

TEST(ShareOut, CutsAtMultiplesOfSixtyFour) {
  for (const auto& sizes : kSizes) {
    for (const ParameterPiece& piece : share_out(sizes, 3, false)) EXPECT_EQ(piece.begin % 64, 0);
  }
}

TEST(ShareOut, IsFair) {
  for (const auto& sizes : kSizes) {
    for (const int64_t processes : {2, 3, 8}) {
      const double fair = static_cast<double>(total_of(sizes)) / static_cast<double>(processes);
      for (const int64_t numbers : numbers_by_rank(share_out(sizes, processes, false), processes))
        EXPECT_NEAR(static_cast<double>(numbers), fair, 64.5) << processes;
    }
  }
  // Whole parameters: as fair as they allow.
  EXPECT_EQ(numbers_by_rank(share_out({10, 10, 10, 10}, 2, true), 2), (std::vector<int64_t>{20, 20}));
  EXPECT_EQ(numbers_by_rank(share_out({100, 1, 1}, 2, true), 2), (std::vector<int64_t>{100, 2}));
}

}  // namespace
}  // namespace synthesizer
