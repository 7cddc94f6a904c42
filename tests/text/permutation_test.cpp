// Orders that depend on nothing but a seed.

#include "text/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace synthesizer::testing {
namespace {

TEST(Permutation, holds_every_number_once) {
  for (int64_t n : {0, 1, 2, 3, 10, 1000}) {
    auto order = permutation(n, 7);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(static_cast<int64_t>(order.size()), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
  }
}

TEST(Permutation, depends_on_the_seed_alone) {
  EXPECT_EQ(permutation(100, 1), permutation(100, 1));
  EXPECT_NE(permutation(100, 1), permutation(100, 2));
}

TEST(Permutation, is_the_same_on_every_machine) {
  // From an independent splitmix64 and Fisher-Yates.
  EXPECT_EQ(permutation(8, 42), (std::vector<int64_t>{3, 1, 6, 2, 4, 0, 7, 5}));
}

TEST(Permutation, has_every_order_equally_often) {
  std::map<std::vector<int64_t>, int> seen;
  for (uint64_t seed = 0; seed < 24000; ++seed) ++seen[permutation(4, seed)];
  ASSERT_EQ(seen.size(), 24u);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 1000, 200);
}

TEST(RandomNumbers, are_those_of_splitmix64) {
  // The first outputs of the reference implementation for this seed.
  RandomNumbers random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(RandomNumbers, stay_below_the_bound) {
  RandomNumbers random(3);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen, (std::set<uint64_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(random.below(1), 0u);
}

TEST(RandomNumbers, are_fair_for_bounds_near_2_to_64) {
  // With 3·2⁶² as bound, a plain remainder would give the lowest third half of the time.
  RandomNumbers random(5);
  int low = 0;
  for (int i = 0; i < 3000; ++i) low += random.below(uint64_t{3} << 62) < uint64_t{1} << 62 ? 1 : 0;
  EXPECT_NEAR(low, 1000, 150);
}

TEST(Mix, tells_its_arguments_apart) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 50; ++a) {
    for (uint64_t b = 0; b < 50; ++b) seen.insert(combine_seeds(a, b));
  }
  EXPECT_EQ(seen.size(), 2500u);
}

}  // namespace
}  // namespace synthesizer::testing
