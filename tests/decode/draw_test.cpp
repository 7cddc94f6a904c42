// Draws follow the probabilities, cut as the options say.

#include "decode/draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decode/logits.h"

namespace synthesizer::testing {
namespace {

const std::vector<float> shares{0.05F, 0.4F, 0.15F, 0.1F, 0.3F};

/// Draws many and compares the counts with the shares, by chi-square against a bound that a right sampler
/// exceeds once in a million seeds (the seed is fixed). Shares of 0 must not come at all.
void expect_shares(const std::vector<float>& logits, const DecodeOptions& options,
                   const std::vector<double>& share) {
  const int count = 20000;
  const auto weights = sampling_candidates(logits, options);
  RandomStream random(options.seed, 0);
  std::vector<int> seen(logits.size(), 0);
  for (int n = 0; n < count; ++n) ++seen[draw_token(weights, random)];
  double chi_square = 0;
  for (size_t token = 0; token < seen.size(); ++token) {
    const double expected = share[token] * count;
    if (expected == 0) {
      EXPECT_EQ(seen[token], 0) << token;
    } else {
      EXPECT_GT(seen[token], 0) << token;
      chi_square += (seen[token] - expected) * (seen[token] - expected) / expected;
    }
  }
  EXPECT_LT(chi_square, 33.4);  // 4 degrees of freedom
}

std::set<int64_t> support(const std::vector<float>& logits, const DecodeOptions& options,
                          int64_t forbidden = -1) {
  std::set<int64_t> tokens;
  for (const auto& choice : sampling_candidates(logits, options, forbidden)) tokens.insert(choice.token);
  return tokens;
}

TEST(Draw, FollowsTheProbabilities) {
  for (uint64_t seed : {1, 2, 3}) expect_shares(logs(shares), {.seed = seed}, {0.05, 0.4, 0.15, 0.1, 0.3});
}

TEST(Draw, FollowsTheTemperature) {
  double total = 0;
  std::vector<double> powers;
  for (float p : shares) powers.push_back(std::pow(p, 1 / 0.5));
  for (double p : powers) total += p;
  for (double& p : powers) p /= total;
  expect_shares(logs(shares), {.temperature = 0.5}, powers);
}

TEST(Draw, TopKLeavesTheOthersTheirShares) {
  expect_shares(logs(shares), {.top_k = 2}, {0, 0.4 / 0.7, 0, 0, 0.3 / 0.7});
}

TEST(Draw, TopPLeavesTheOthersTheirShares) {
  expect_shares(logs(shares), {.top_p = 0.8}, {0, 0.4 / 0.85, 0.15 / 0.85, 0, 0.3 / 0.85});
}

TEST(Draw, TopKKeepsExactlyTheKMostLikely) {
  const std::vector<std::set<int64_t>> expected{{1}, {1, 4}, {1, 2, 4}, {1, 2, 3, 4}, {0, 1, 2, 3, 4}};
  for (int64_t k = 1; k <= 5; ++k) EXPECT_EQ(support(logs(shares), {.top_k = k}), expected[k - 1]);
  EXPECT_EQ(support(logs(shares), {.top_k = 0}).size(), 5U);
  EXPECT_EQ(support(logs(shares), {.top_k = 99}).size(), 5U);
}

TEST(Draw, TopPKeepsTheFewestThatReachIt) {
  auto kept = [](double p) { return support(logs(shares), {.top_p = p}); };
  EXPECT_EQ(kept(0), (std::set<int64_t>{1}));
  EXPECT_EQ(kept(0.39), (std::set<int64_t>{1}));
  EXPECT_EQ(kept(0.41), (std::set<int64_t>{1, 4}));
  EXPECT_EQ(kept(0.69), (std::set<int64_t>{1, 4}));
  EXPECT_EQ(kept(0.71), (std::set<int64_t>{1, 2, 4}));
  EXPECT_EQ(kept(0.94), (std::set<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(kept(0.96).size(), 5U);
  EXPECT_EQ(kept(1).size(), 5U);
}

TEST(Draw, TopPCountsWhatTopKLeft) {
  // Of .4 and .3 the first alone has 4/7.
  EXPECT_EQ(support(logs(shares), {.top_k = 2, .top_p = 0.55}), (std::set<int64_t>{1}));
  EXPECT_EQ(support(logs(shares), {.top_k = 2, .top_p = 0.6}), (std::set<int64_t>{1, 4}));
}

TEST(Draw, TopPCountsAfterTheTemperature) {
  // Squared, .4 has 16 of 28.5 parts.
  EXPECT_EQ(support(logs(shares), {.temperature = 0.5, .top_p = 0.5}), (std::set<int64_t>{1}));
  EXPECT_EQ(support(logs(shares), {.temperature = 1, .top_p = 0.5}), (std::set<int64_t>{1, 4}));
}

TEST(Draw, OfEqualOnesTheLowerTokensAreKept) {
  const std::vector<float> equal(50, 0.5F);
  EXPECT_EQ(support(equal, {.top_k = 3}), (std::set<int64_t>{0, 1, 2}));
  EXPECT_EQ(support(equal, {.top_p = 0.05}), (std::set<int64_t>{0, 1, 2}));
  EXPECT_EQ(support(equal, {.temperature = 0}), (std::set<int64_t>{0}));
}

TEST(Draw, TemperatureZeroIsTheLimitOfSmallOnes) {
  EXPECT_EQ(support(logs(shares), {.temperature = 0}), (std::set<int64_t>{1}));
  for (double temperature : {1e-2, 1e-9, 1e-308}) {
    RandomStream random(5, 0);
    const auto weights = sampling_candidates(logs(shares), {.temperature = temperature});
    for (int n = 0; n < 1000; ++n) ASSERT_EQ(draw_token(weights, random), 1);
  }
}

TEST(Draw, TokensOfProbabilityZeroAreNeverDrawn) {
  EXPECT_EQ(support({0, never, 1}, {.top_k = 3}), (std::set<int64_t>{0, 2}));
  expect_shares({0, never, 0, never, 0}, {}, {1 / 3., 0, 1 / 3., 0, 1 / 3.});
}

TEST(Draw, AForbiddenTokenIsLeftOutUnlessItIsTheOnlyOne) {
  EXPECT_EQ(support(logs(shares), {.top_k = 2}, 1), (std::set<int64_t>{2, 4}));
  EXPECT_EQ(support({never, 3, never}, {}, 1), (std::set<int64_t>{1}));
}

TEST(RandomStream, IsTheSameOnEveryMachine) {
  RandomStream random(1, 0);
  EXPECT_EQ(random.next(), 0x4181b152fb77616fU);
  EXPECT_EQ(random.next(), 0x169c646d52269d62U);
}

TEST(RandomStream, StaysBelowOneAndHasTheMeanOfAnEvenSpread) {
  RandomStream random(3, 4);
  double sum = 0;
  for (int n = 0; n < 100000; ++n) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(RandomStream, DiffersBySeedAndRow) {
  std::set<uint64_t> first;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (uint64_t row = 0; row < 50; ++row) first.insert(RandomStream(seed, row).next());
  }
  EXPECT_EQ(first.size(), 2500U);
}

}  // namespace
}  // namespace synthesizer::testing
