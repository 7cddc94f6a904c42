// Several corpora in one run: how often each is seen.

#include "text/mixed_batches.h"

#include <map>
#include <set>

#include "text/corpus.h"
#include "text/line_batches.h"

namespace synthesizer::testing {
namespace {

class MixedBatchesTest : public StoreTest {
 protected:
  /// A corpus of lines of one token, the same in all of them: `token`.
  MixedPart part(int64_t examples, int64_t token, int64_t batch) {
    std::string rows;
    for (int64_t i = 0; i < examples; ++i) rows += std::to_string(token) + "\n";
    stores_.push_back(std::make_unique<TokenStore>(
        TokenStore::open(options({write(std::to_string(token) + ".txt", rows)}))));
    LineBatchOptions how;
    how.batch_examples = batch;
    return {std::make_unique<LineBatches>(*stores_.back(), how), examples};
  }
  std::map<int64_t, int64_t> seen(const MixedBatches& mixed, int64_t from, int64_t to) {
    std::map<int64_t, int64_t> count;
    for (int64_t n = from; n < to; ++n) {
      const Batch batch = mixed.make(n);
      EXPECT_EQ(batch.sequence, n);
      for (const int64_t id : batch.fields[0].ids) ++count[id];
    }
    return count;
  }

  std::vector<std::unique_ptr<TokenStore>> stores_;
};

TEST_F(MixedBatchesTest, WithoutACapEveryExampleIsSeenOnceAnEpoch) {
  std::vector<MixedPart> parts;
  parts.push_back(part(100, 7, 4));
  parts.push_back(part(30, 8, 4));
  const MixedBatches mixed(std::move(parts), {.cap = 0}, 1);
  EXPECT_EQ(mixed.per_epoch(), 25 + 8);
  EXPECT_EQ(seen(mixed, 0, mixed.per_epoch()), (std::map<int64_t, int64_t>{{7, 100}, {8, 30}}));
}

TEST_F(MixedBatchesTest, ACapHoldsTheLargeOnesBack) {
  std::vector<MixedPart> parts;
  parts.push_back(part(1000, 7, 5));
  parts.push_back(part(200, 8, 5));
  parts.push_back(part(50, 9, 5));
  const MixedBatches mixed(std::move(parts), {.cap = 100}, 1);
  // 100 : 100 : 50, the examples-proportional rates with a limit of 100.
  EXPECT_EQ(seen(mixed, 0, mixed.per_epoch()), (std::map<int64_t, int64_t>{{7, 100}, {8, 100}, {9, 50}}));
}

TEST_F(MixedBatchesTest, ATemperatureEvensOutTheRates) {
  auto seen_at = [&](MixingRates rates) {
    std::vector<MixedPart> parts;
    parts.push_back(part(900, 7, 1));
    parts.push_back(part(100, 8, 1));
    parts.push_back(part(25, 9, 1));
    const MixedBatches mixed(std::move(parts), rates, 1);
    return seen(mixed, 0, mixed.per_epoch());
  };
  // Square roots are 30 : 10 : 5; of 1,025 examples that is 683 : 228 : 114, the small ones more than once.
  EXPECT_EQ(seen_at({.temperature = 2}), (std::map<int64_t, int64_t>{{7, 683}, {8, 228}, {9, 114}}));
  // With a cap of 400: 20 : 10 : 5 of 525.
  EXPECT_EQ(seen_at({.cap = 400, .temperature = 2}),
            (std::map<int64_t, int64_t>{{7, 300}, {8, 150}, {9, 75}}));
}

TEST_F(MixedBatchesTest, EpochsGoOnWhereTheLastOneStopped) {
  std::vector<MixedPart> parts;
  parts.push_back(part(40, 7, 1));
  parts.push_back(part(10, 8, 1));
  const MixedBatches mixed(std::move(parts), {.cap = 10}, 3);
  std::set<int64_t> examples;
  for (int64_t n = 0; n < 4 * mixed.per_epoch(); ++n) {
    if (mixed.part_of(n) == 0) examples.insert(mixed.make(n).examples[0]);
  }
  EXPECT_EQ(examples.size(), 40u);
}

TEST_F(MixedBatchesTest, PartsAreShuffledAmongEachOtherAndTheOrderDependsOnTheSeed) {
  auto order = [&](uint64_t seed) {
    std::vector<MixedPart> parts;
    parts.push_back(part(20, 7, 1));
    parts.push_back(part(20, 8, 1));
    const MixedBatches mixed(std::move(parts), {.cap = 0}, seed);
    std::vector<size_t> which;
    for (int64_t n = 0; n < 40; ++n) which.push_back(mixed.part_of(n));
    return which;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  std::vector<size_t> sorted = order(1);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_NE(order(1), sorted);
}

TEST_F(MixedBatchesTest, MessagesNameTheFile) {
  std::vector<MixedPart> parts;
  parts.push_back(part(3, 7, 1));
  parts.push_back(part(3, 8, 1));
  const MixedBatches mixed(std::move(parts), {.cap = 0}, 1);
  for (int64_t n = 0; n < 6; ++n) {
    const std::string file = mixed.part_of(n) == 0 ? "7.txt:" : "8.txt:";
    EXPECT_NE(mixed.describe(mixed.make(n)).find(file), std::string::npos);
  }
}

}  // namespace
}  // namespace synthesizer::testing
