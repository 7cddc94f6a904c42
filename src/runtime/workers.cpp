#include "runtime/workers.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/range.h"
#include "runtime/threads.h"

namespace synthesizer {
namespace {
int64_t worker_count = 1;
}

void use_workers(int64_t count) {
  check_between("--workers", count, 1, kMaxThreads);
  worker_count = count;
}

int64_t workers() {
  return worker_count;
}

void for_each_piece(size_t pieces, const std::function<void(size_t)>& work) {
  const size_t groups = std::min(static_cast<size_t>(worker_count), pieces);
  if (groups <= 1) {
    for (size_t n = 0; n < pieces; ++n) work(n);
    return;
  }
  const int64_t all = at::get_num_threads();
  release_team();  // this thread only waits from here on
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  auto work_through = [&](size_t group) {
    // Some groups have a thread more where they do not divide evenly.
    const auto own = all / static_cast<int64_t>(groups), rest = all % static_cast<int64_t>(groups);
    at::get_num_threads();  // a thread's first question sets its number to the one set last, by whomever
    use_threads(std::max<int64_t>(1, own + (static_cast<int64_t>(group) < rest ? 1 : 0)));
    for (size_t n = next++; n < pieces; n = next++) {
      try {
        work(n);
      } catch (...) {
        next = pieces;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(groups);
  for (size_t group = 0; group < groups; ++group) {
    try {
      threads.emplace_back(work_through, group);
    } catch (...) {  // the system has no more threads: those there are do all of it
      if (threads.empty()) throw;
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  use_threads(all);  // the number for threads to come
  if (failure) std::rethrow_exception(failure);
}

}  // namespace synthesizer
