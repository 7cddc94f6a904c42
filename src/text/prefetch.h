#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "text/batches.h"

namespace synthesizer {

/// Batches first, first + stride, first + 2 stride …, made ahead by a thread of their own, so that nobody
/// waits for them while computing.
class Prefetch {
 public:
  /// The batches are to outlive it; at most `depth` of them are held.
  Prefetch(const Batches& batches, int64_t first, int64_t stride, int64_t depth);
  /// Stops at once, whatever was made ahead.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  /// The next one. What went wrong when it was made is thrown here, now and with every later call.
  Batch next();

 private:
  void work(int64_t sequence);

  const Batches& batches_;
  const int64_t stride_;
  const size_t depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  std::exception_ptr failure_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace synthesizer
