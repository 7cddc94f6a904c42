#include "serve/pending_request.h"

#include <algorithm>

#include "serve/error.h"

namespace synthesizer::serve {
namespace {
// A hundred waiting requests wake up so often, and each time may stop a thread that computes.
constexpr auto kLookForClient = std::chrono::milliseconds(250);
}  // namespace

ApiError too_late() {
  return {503, "the request took longer than the server allows (--timeout): send less text, or later"};
}

void PendingRequest::finish_one() {
  const std::lock_guard lock(mutex_);
  --left_;
  changed_.notify_all();
}

void PendingRequest::fail(std::exception_ptr reason) {
  const std::lock_guard lock(mutex_);
  if (!reason_) reason_ = std::move(reason);
  --left_;
  changed_.notify_all();
}

void PendingRequest::push(std::string piece) {
  const std::lock_guard lock(mutex_);
  pieces_.push_back(std::move(piece));
  changed_.notify_all();
}

void PendingRequest::wait_until(std::unique_lock<std::mutex>& lock, const Connected& connected,
                                const std::function<bool()>& condition) {
  while (!condition()) {
    changed_.wait_until(lock, std::min(deadline_, Clock::now() + kLookForClient));
    if (condition()) return;
    if (late(Clock::now())) {
      cancel();
      throw too_late();
    }
    lock.unlock();
    const bool there = connected();
    lock.lock();
    if (!there) {
      cancel();
      throw Disconnected();
    }
  }
}

void PendingRequest::wait(const Connected& connected) {
  std::unique_lock lock(mutex_);
  wait_until(lock, connected, [&] { return left_ == 0 || reason_; });
  if (!reason_) return;
  cancel();
  std::rethrow_exception(reason_);
}

std::optional<std::string> PendingRequest::next(const Connected& connected) {
  std::unique_lock lock(mutex_);
  wait_until(lock, connected, [&] { return !pieces_.empty() || left_ == 0 || reason_; });
  if (!pieces_.empty()) {
    std::string piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
  }
  if (!reason_) return {};
  cancel();
  std::rethrow_exception(reason_);
}

}  // namespace synthesizer::serve
