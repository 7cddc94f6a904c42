#include "text/prefetch.h"

#include <algorithm>
#include <utility>

namespace synthesizer {

Prefetch::Prefetch(const Batches& batches, int64_t first, int64_t stride, int64_t depth)
    : batches_(batches),
      stride_(stride),
      depth_(static_cast<size_t>(std::max<int64_t>(depth, 1))),
      thread_([this, first] { work(first); }) {}

Prefetch::~Prefetch() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Batch Prefetch::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || failure_; });
  if (ready_.empty()) std::rethrow_exception(failure_);
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

void Prefetch::work(int64_t sequence) {
  std::unique_lock lock(mutex_);
  for (;; sequence += stride_) {
    changed_.wait(lock, [&] { return stopping_ || ready_.size() < depth_; });
    if (stopping_) return;
    lock.unlock();
    Batch batch;
    std::exception_ptr failure;
    try {
      batch = batches_.make(sequence);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    try {
      if (!failure) ready_.push_back(std::move(batch));
    } catch (...) {
      failure = std::current_exception();
    }
    failure_ = failure;
    changed_.notify_all();
    if (failure) return;
  }
}

}  // namespace synthesizer
