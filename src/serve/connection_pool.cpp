#include "serve/connection_pool.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace synthesizer::serve {
namespace {

constexpr int kLookForIdle = 500;  // milliseconds

int valid(int descriptor) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "cannot watch connections");
  return descriptor;
}

}  // namespace

ConnectionPool::ConnectionPool(const Limits& limits, Serve serve)
    : limits_(limits),
      serve_(std::move(serve)),
      epoll_(valid(::epoll_create1(EPOLL_CLOEXEC))),
      wake_(valid(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  epoll_event event = {EPOLLIN, {.fd = wake_}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event);
  watcher_ = std::thread([this] { watch(); });
}

ConnectionPool::~ConnectionPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    arrived_.notify_all();
  }
  wake();
  watcher_.join();
  for (std::thread& worker : workers_) worker.join();
  idle_.clear();
  ready_.clear();
  ::close(epoll_);
  ::close(wake_);
}

void ConnectionPool::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

size_t ConnectionPool::open() const {
  const std::lock_guard lock(mutex_);
  return idle_.size() + ready_.size() + busy_;
}

bool ConnectionPool::admit(Held& connection) {
  Held closed;  // outside of the lock
  const std::lock_guard lock(mutex_);
  if (idle_.size() + ready_.size() + busy_ >= limits_.connections) {
    auto oldest = idle_.begin();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->second->idle_since < oldest->second->idle_since) oldest = it;
    }
    if (oldest == idle_.end()) return false;
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, oldest->first, nullptr);
    closed = std::move(oldest->second);
    idle_.erase(oldest);
  }
  add_idle(std::move(connection));
  return true;
}

void ConnectionPool::add_idle(Held connection) {
  const int socket = connection->socket();
  connection->idle_since = Clock::now();
  epoll_event event = {EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, {.fd = socket}};
  idle_[socket] = std::move(connection);
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) != 0 &&
      ::epoll_ctl(epoll_, EPOLL_CTL_MOD, socket, &event) != 0) {
    idle_.erase(socket);
  }
}

void ConnectionPool::close_idle(Clock::time_point before) {
  std::vector<Held> closed;
  const std::lock_guard lock(mutex_);
  for (auto it = idle_.begin(); it != idle_.end();) {
    if (it->second->idle_since > before) {
      ++it;
      continue;
    }
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, it->first, nullptr);
    closed.push_back(std::move(it->second));
    it = idle_.erase(it);
  }
}

void ConnectionPool::watch() {
  std::array<epoll_event, 64> events = {};
  for (;;) {
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kLookForIdle);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      for (int n = 0; n < count; ++n) {
        const auto found = idle_.find(events[static_cast<size_t>(n)].data.fd);
        if (found == idle_.end()) continue;
        ready_.push_back(std::move(found->second));
        idle_.erase(found);
        if (sleeping_ < ready_.size() && workers_.size() < limits_.connections)
          workers_.emplace_back([this] { work(); });
        arrived_.notify_one();
      }
    }
    close_idle(Clock::now() - limits_.idle);
  }
}

void ConnectionPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++sleeping_;
    arrived_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
    --sleeping_;
    if (ready_.empty()) return;
    Held connection = std::move(ready_.front());
    ready_.pop_front();
    ++busy_;
    lock.unlock();
    bool stays = false;
    try {
      do {
        stays = serve_(*connection);
      } while (stays && connection->has_input());
    } catch (...) {
      stays = false;
    }
    if (!stays) connection.reset();
    lock.lock();
    --busy_;
    if (connection && !draining_) {
      ::epoll_ctl(epoll_, EPOLL_CTL_DEL, connection->socket(), nullptr);
      add_idle(std::move(connection));
    }
    finished_.notify_all();
  }
}

bool ConnectionPool::drain(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  const bool answered = finished_.wait_until(lock, deadline, [&] { return busy_ == 0 && ready_.empty(); });
  lock.unlock();
  close_idle(Clock::time_point::max());
  return answered;
}

}  // namespace synthesizer::serve
