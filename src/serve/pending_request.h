#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "serve/error.h"

namespace synthesizer::serve {

using Clock = std::chrono::steady_clock;

/// What a request is told that was not done by its deadline.
ApiError too_late();

/// Tells whether the client of a request is still there.
using Connected = std::function<bool()>;

/// What one request waits for: the jobs that it was split into, and pieces of text as they are written. The
/// engine's threads report; the request's own thread waits, and gives everything up when its client has gone.
class PendingRequest {
 public:
  PendingRequest(size_t jobs, Clock::time_point deadline) : left_(jobs), deadline_(deadline) {}

  // For the engine.
  bool cancelled() const { return cancelled_; }
  bool late(Clock::time_point now) const { return now >= deadline_; }
  void finish_one();                     ///< one job is done
  void fail(std::exception_ptr reason);  ///< one job could not be done; the first reason is kept
  void push(std::string piece);          ///< a piece of text, to be streamed

  // For the request. Both throw Disconnected when the client has gone, the reason where a job has failed, and
  // ApiError (503) past the deadline; the jobs are given up then.
  void wait(const Connected& connected);
  std::optional<std::string> next(const Connected& connected);  ///< the next piece; none: all is done
  void cancel() { cancelled_ = true; }

 private:
  /// Waits until the condition holds, under the lock.
  void wait_until(std::unique_lock<std::mutex>& lock, const Connected& connected,
                  const std::function<bool()>& condition);

  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
  std::deque<std::string> pieces_;
  std::exception_ptr reason_;
  Clock::time_point deadline_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace synthesizer::serve
