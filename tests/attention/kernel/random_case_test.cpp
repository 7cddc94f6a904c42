// The first of the random cases that ./run fuzz kernel goes on with.

#include "attention/kernel/random_case.h"

#include <gtest/gtest.h>

namespace synthesizer::testing {
namespace {

TEST(RandomCase, EqualsLoopsInDoublePrecision) {
  for (uint64_t seed = 1; seed <= 400; ++seed) EXPECT_EQ(check_random_case(seed), "") << "seed " << seed;
}

// Found by ./run fuzz kernel: a table with a row of -infinity that no sample has got a gradient of NaN.
TEST(RandomCase, RowsThatNoSampleHasTakeNoGradient) {
  for (const uint64_t seed : {459, 553, 1535, 2519})
    EXPECT_EQ(check_random_case(seed), "") << "seed " << seed;
}

}  // namespace
}  // namespace synthesizer::testing
