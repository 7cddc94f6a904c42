// Pieces of work on several groups of threads.

#include "runtime/workers.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/threads.h"

namespace synthesizer::testing {
namespace {

class Workers : public ::testing::Test {
 protected:
  ~Workers() override {
    use_workers(1);
    use_threads(threads_);
  }
  int64_t threads_ = at::get_num_threads();
};

TEST_F(Workers, do_every_piece_once) {
  for (const int64_t count : {1, 2, 5}) {
    use_workers(count);
    std::vector<std::atomic<int>> done(37);
    for_each_piece(done.size(), [&](size_t n) { ++done[n]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
  for_each_piece(0, [](size_t) { FAIL(); });
}

TEST_F(Workers, divide_the_threads) {
  use_threads(5);
  use_workers(2);
  std::mutex mutex;
  std::multiset<int> found;
  std::atomic<int> waiting = 0;
  for_each_piece(2, [&](size_t) {
    ++waiting;
    while (waiting < 2) std::this_thread::yield();  // one piece for each of them
    const std::lock_guard lock(mutex);
    found.insert(at::get_num_threads());
  });
  EXPECT_EQ(found, (std::multiset<int>{2, 3}));
  EXPECT_EQ(at::get_num_threads(), 5);
}

TEST_F(Workers, throw_what_the_first_of_them_threw) {
  use_workers(3);
  std::atomic<int> begun = 0;
  EXPECT_THROW(for_each_piece(1000,
                              [&](size_t n) {
                                ++begun;
                                if (n == 3) throw std::runtime_error("three");
                                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                              }),
               std::runtime_error);
  EXPECT_LT(begun, 1000);
}

TEST_F(Workers, are_at_least_one) {
  EXPECT_THROW(use_workers(0), InvalidInput);
  EXPECT_THROW(use_workers(kMaxThreads + 1), InvalidInput);
}

}  // namespace
}  // namespace synthesizer::testing
