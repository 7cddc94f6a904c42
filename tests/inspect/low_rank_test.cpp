// Tables as products: the error is the tail of the singular values, unseen entries do not count, and a number
// added to a row changes nothing.

#include "inspect/low_rank.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/spectrum.h"

namespace synthesizer {
namespace {

constexpr int64_t kLength = 12;

at::Tensor noise(int64_t rows, int64_t columns, uint64_t seed) {
  at::manual_seed(seed);
  return at::randn({rows, columns}, at::kDouble);
}

/// What softmax sees of a row: its differences.
at::Tensor centred(const at::Tensor& table) {
  return table - table.mean(1, true);
}

double error_of(const at::Tensor& table, const LowRank& fit, const at::Tensor& weight) {
  const auto left = at::matmul(fit.left, fit.right.t()).to(at::kDouble) - table;
  return std::sqrt((weight * left.square()).sum().item<double>() /
                   (weight * table.square()).sum().item<double>());
}

TEST(LowRank, TheErrorIsTheTailOfTheSingularValues) {
  const auto table = centred(noise(kLength, kLength, 1));
  const auto all = at::ones({kLength, kLength}, at::kDouble);
  const auto values = at::linalg_svdvals(table);
  for (const int64_t rank : {1, 3, 7, 11}) {
    const LowRank fit = low_rank(table, all, rank);
    const double tail = values.narrow(0, rank, kLength - rank).norm().item<double>();
    EXPECT_NEAR(fit.error, tail / table.norm().item<double>(), 1e-9) << rank;
    EXPECT_NEAR(error_of(table, fit, all), fit.error, 1e-5) << rank;
    EXPECT_EQ(fit.left.sizes(), (std::vector<int64_t>{kLength, rank}));
  }
}

TEST(LowRank, ATableOfThatRankIsKeptAsItIs) {
  const auto table = centred(at::matmul(noise(kLength, 2, 1), noise(2, kLength, 2)));
  const LowRank fit = low_rank(table, at::ones({kLength, kLength}, at::kDouble), 2);
  EXPECT_LT(fit.error, 1e-7);
  EXPECT_TRUE(at::allclose(at::matmul(fit.left, fit.right.t()), table.to(at::kFloat), 1e-4, 1e-4));
}

TEST(LowRank, ANumberAddedToARowChangesNothing) {
  const auto table = noise(kLength, kLength, 3), all = at::ones({kLength, kLength}, at::kDouble);
  const LowRank plain = low_rank(table, all, 3), lifted = low_rank(table + 5 * noise(kLength, 1, 4), all, 3);
  EXPECT_NEAR(plain.error, lifted.error, 1e-9);
  EXPECT_TRUE(at::allclose(at::matmul(plain.left, plain.right.t()), at::matmul(lifted.left, lifted.right.t()),
                           1e-3, 1e-3));
}

TEST(LowRank, WhatACausalLayerNeverSeesDoesNotCount) {
  // Below the diagonal a product of rank 1 whose rows sum to 0 there, above it noise.
  auto table = at::matmul(noise(kLength, 1, 1), noise(1, kLength, 2));
  const auto seen = at::ones({kLength, kLength}, at::kDouble).tril();
  table = table - (table * seen).sum(1, true) / seen.sum(1, true);
  const auto spoilt = table * seen + 10 * noise(kLength, kLength, 3) * (1 - seen);
  EXPECT_NEAR(low_rank(table, seen, 2).error, low_rank(spoilt, seen, 2).error, 1e-9);
  const auto plain = low_rank(spoilt, at::ones_like(seen), 2);
  EXPECT_LT(error_of(table, low_rank(spoilt, seen, 2), seen), error_of(table, plain, seen) / 2);
}

TEST(LowRank, WhatCountsMoreIsMetMoreClosely) {
  const auto table = centred(noise(kLength, kLength, 5));
  auto weight = at::full({kLength, kLength}, 0.01, at::kDouble);
  weight.narrow(0, 0, 4).narrow(1, 0, 4).fill_(1);
  const auto even = low_rank(table, at::ones_like(weight), 3), weighted = low_rank(table, weight, 3);
  const auto fitted = table - (table * weight).sum(1, true) / weight.sum(1, true);
  EXPECT_NEAR(error_of(fitted, weighted, weight), weighted.error, 1e-4);
  EXPECT_LT(weighted.error, 0.9 * error_of(fitted, even, weight));
}

TEST(LowRank, FactorsAreOfEqualSize) {
  const auto weight = at::ones({kLength, kLength}, at::kDouble).tril();
  const LowRank fit = low_rank(noise(kLength, kLength, 6), weight, 4);
  EXPECT_NEAR(fit.left.norm().item<double>(), fit.right.norm().item<double>(), 1e-4);
}

TEST(LowRank, ATableOfZerosHasNoError) {
  const auto none = at::zeros({4, 4}, at::kDouble);
  const LowRank fit = low_rank(none, at::ones_like(none), 2);
  EXPECT_EQ(fit.error, 0);
  EXPECT_TRUE(at::isfinite(fit.left).all().item<bool>());
}

TEST(Spectrum, EffectiveRankCountsEqualValuesAndDiscountsSmallOnes) {
  EXPECT_NEAR((Spectrum{{2, 2, 2, 2}}).effective_rank(), 4, 1e-12);
  EXPECT_NEAR((Spectrum{{5, 0, 0}}).effective_rank(), 1, 1e-12);
  const double entropy = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  EXPECT_NEAR((Spectrum{{3, 1}}).effective_rank(), std::exp(entropy), 1e-12);
  EXPECT_EQ((Spectrum{{0, 0}}).effective_rank(), 0);
}

TEST(Spectrum, HoldingCountsTheLargestUntilTheirEnergyIsReached) {
  EXPECT_EQ((Spectrum{{10, 1, 0.5}}).holding(0.98), 1);
  EXPECT_EQ((Spectrum{{10, 1, 0.5}}).holding(0.995), 2);
  EXPECT_EQ((Spectrum{{1, 1, 1, 1}}).holding(0.99), 4);
}

}  // namespace
}  // namespace synthesizer
