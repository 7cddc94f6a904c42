// What a head does as numbers: entropy, distance, diagonals, likeness, histograms, against plain formulas.

#include "inspect/head_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "inspect/statistics.h"

namespace synthesizer {
namespace {

WeightMap uniform(int64_t rows, int64_t columns, bool causal) {
  WeightMap map{rows, columns, causal, {}};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      map.weights.push_back(j < map.visible(i) ? 1.0f / static_cast<float>(map.visible(i)) : 0);
  }
  return map;
}

/// All weight of row i on column i + offset, or on the nearest there is.
WeightMap shifted(int64_t length, int64_t offset, bool causal) {
  WeightMap map{length, length, causal, std::vector<float>(static_cast<size_t>(length * length))};
  for (int64_t i = 0; i < length; ++i) {
    const int64_t j = std::min(std::max<int64_t>(i + offset, 0), map.visible(i) - 1);
    map.weights[static_cast<size_t>(i * length + j)] = 1;
  }
  return map;
}

HeadStatistics numbers_of(const WeightMap& map) {
  HeadSums sums;
  sums.add(map);
  return sums.mean();
}

double difference(const WeightMap& a, const WeightMap& b) {
  HeadDifference sum;
  sum.add(a, b);
  return sum.mean();
}

TEST(HeadStatistics, UniformWeightsHaveTheHighestEntropy) {
  const HeadStatistics n = numbers_of(uniform(3, 8, false));
  EXPECT_NEAR(n.entropy, std::log(8), 1e-6);
  EXPECT_NEAR(n.entropy_share, 1, 1e-6);
  EXPECT_TRUE(n.near_uniform());
  EXPECT_FALSE(n.near_diagonal());
}

TEST(HeadStatistics, UnderACausalMaskEachRowIsJudgedByWhatItSees) {
  const HeadStatistics n = numbers_of(uniform(4, 4, true));
  EXPECT_NEAR(n.entropy, (std::log(2) + std::log(3) + std::log(4)) / 3, 1e-6);  // the first has no choice
  EXPECT_NEAR(n.entropy_share, 1, 1e-6);
  EXPECT_NEAR(n.distance, (0 + 0.5 + 1 + 1.5) / 4, 1e-6);
}

TEST(HeadStatistics, EntropyIsThatOfTheFormula) {
  const WeightMap map{1, 3, false, {0.5f, 0.25f, 0.25f}};
  EXPECT_NEAR(numbers_of(map).entropy, 1.5 * std::log(2), 1e-6);
  EXPECT_NEAR(numbers_of(map).distance, 0.25 * 1 + 0.25 * 2, 1e-6);
}

TEST(HeadStatistics, ADiagonalIsFoundWithItsOffset) {
  for (const int64_t offset : {-2, -1, 0}) {
    const HeadStatistics n = numbers_of(shifted(12, offset, true));
    EXPECT_EQ(n.offset, offset);
    EXPECT_NEAR(n.diagonal, 1, 1e-6);
    EXPECT_NEAR(n.entropy, 0, 1e-6);
    EXPECT_TRUE(n.near_diagonal());
  }
  EXPECT_EQ(numbers_of(shifted(12, 3, false)).offset, 3);
}

TEST(HeadStatistics, ACornerThatFewRowsReachIsNoDiagonal) {
  WeightMap first{6, 6, false, std::vector<float>(36)};
  for (size_t i = 0; i < 6; ++i) first.weights[i * 6] = 1;  // all look at the first token
  const HeadStatistics n = numbers_of(first);
  EXPECT_FALSE(n.near_diagonal());
  EXPECT_LE(n.diagonal, 1.0 / 3 + 1e-6);
}

TEST(HeadStatistics, SeveralTextsAreOneMeanOverTheirRows) {
  HeadSums sums;
  sums.add(uniform(2, 4, false));
  sums.add(shifted(6, 0, false));
  EXPECT_NEAR(sums.mean().entropy, 2 * std::log(4) / 8, 1e-6);
}

TEST(HeadStatistics, OneTokenIsNoReasonToFail) {
  const HeadStatistics n = numbers_of(uniform(1, 1, true));
  EXPECT_EQ(n.entropy, 0);
  EXPECT_EQ(n.distance, 0);
  EXPECT_FALSE(n.near_uniform());
}

TEST(HeadDifference, IsTheShareOfWeightThatMoves) {
  EXPECT_NEAR(difference(shifted(5, 0, false), shifted(5, 0, false)), 0, 1e-9);
  EXPECT_NEAR(difference(shifted(2, 0, false), shifted(2, 1, false)), 0.5, 1e-6);  // one row of two
  EXPECT_NEAR(difference(uniform(4, 4, false), shifted(4, 0, false)), 0.75, 1e-6);
}

TEST(HeadDifference, HeadsAreComparedWithinAStack) {
  const auto layer = [](AttentionPlace stack, size_t number, WeightMap a, WeightMap b) {
    return CapturedLayer{stack, number, "", "V", {std::move(a), std::move(b)}};
  };
  Statistics statistics;
  const auto one = uniform(4, 4, false), other = shifted(4, 0, false);
  statistics.add({layer(AttentionPlace::encoder, 0, one, other),
                  layer(AttentionPlace::encoder, 1, other, shifted(4, 1, false)),
                  layer(AttentionPlace::decoder, 0, other, one)});
  const auto pairs = statistics.identical();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].first_layer, 0u);
  EXPECT_EQ(pairs[0].first_head, 1u);
  EXPECT_EQ(pairs[0].second_layer, 1u);
  EXPECT_EQ(pairs[0].second_head, 0u);
}

TEST(WeightHistogram, CountsWhatRowsSeeByTheDecade) {
  WeightHistogram histogram;
  histogram.add({2, 3, false, {0.5f, 0.5f, 0.0f, 1e-7f, 0.02f, 0.98f}});
  histogram.add(uniform(3, 3, true));
  EXPECT_EQ(histogram.total(), 6 + 6);
  const auto edges = WeightHistogram::edges();
  ASSERT_EQ(edges.size(), WeightHistogram::kBins + 1);
  EXPECT_EQ(histogram.counts[0], 2);  // 0 and 1e-7
  const auto bin_of = [&](double weight) {
    size_t n = 0;
    while (edges[n + 1] <= weight) ++n;
    return n;
  };
  EXPECT_EQ(histogram.counts[bin_of(0.5)], 2 + 2);
  EXPECT_EQ(histogram.counts[bin_of(0.02)], 1);
  EXPECT_EQ(histogram.counts[WeightHistogram::kBins - 1], 1 + 1);  // 0.98, and the row without a choice
}

}  // namespace
}  // namespace synthesizer
