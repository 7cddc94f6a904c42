// Batches made ahead by a thread.

#include "text/prefetch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "base/error.h"

namespace synthesizer::testing {
namespace {

/// Batches that are nothing but their number, up to one that cannot be made.
class Numbered : public Batches {
 public:
  explicit Numbered(int64_t bad = -1) : bad_(bad) {}
  int64_t per_epoch() const override { return 10; }
  Batch make(int64_t sequence) const override {
    ++made_;
    if (sequence == bad_) invalid("batch " + std::to_string(sequence) + " cannot be made");
    Batch batch;
    batch.sequence = sequence;
    return batch;
  }
  std::string describe(const Batch&) const override { return ""; }
  int64_t made() const { return made_; }

 private:
  int64_t bad_;
  mutable std::atomic<int64_t> made_ = 0;
};

TEST(Prefetch, gives_batches_in_order_with_a_stride) {
  const Numbered batches;
  Prefetch prefetch(batches, 3, 2, 4);
  for (int64_t expected : {3, 5, 7, 9, 11, 13}) EXPECT_EQ(prefetch.next().sequence, expected);
}

TEST(Prefetch, reads_ahead_and_no_further_than_its_depth) {
  const Numbered batches;
  Prefetch prefetch(batches, 0, 1, 3);
  prefetch.next();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (batches.made() < 4 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  EXPECT_EQ(batches.made(), 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(batches.made(), 4);
}

TEST(Prefetch, throws_what_went_wrong_after_the_batches_before) {
  const Numbered batches(2);
  Prefetch prefetch(batches, 0, 1, 8);
  EXPECT_EQ(prefetch.next().sequence, 0);
  EXPECT_EQ(prefetch.next().sequence, 1);
  for (int i = 0; i < 2; ++i) {
    try {
      prefetch.next();
      FAIL() << "nothing was thrown";
    } catch (const InvalidInput& error) {
      EXPECT_STREQ(error.what(), "batch 2 cannot be made");
    }
  }
}

TEST(Prefetch, stops_where_nobody_takes_anything) {
  const Numbered batches, failing(0);
  { Prefetch unused(batches, 0, 1, 2); }
  { Prefetch failed(failing, 0, 1, 2); }
  EXPECT_LE(batches.made(), 2);
  EXPECT_LE(failing.made(), 1);
}

TEST(Prefetch, holds_at_least_one) {
  const Numbered batches;
  Prefetch prefetch(batches, 0, 1, 0);
  EXPECT_EQ(prefetch.next().sequence, 0);
  EXPECT_EQ(prefetch.next().sequence, 1);
}

}  // namespace
}  // namespace synthesizer::testing
