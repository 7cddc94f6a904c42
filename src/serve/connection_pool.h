#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/connection.h"

namespace synthesizer::serve {

/// Open connections and the threads that serve them. A connection without a request costs no thread: one
/// thread watches them all (epoll) and hands a connection to a worker when something arrives. Workers are
/// started as they are needed, up to one for each connection: a client that sends slowly keeps a worker, and
/// never one that others need.
class ConnectionPool {
 public:
  /// What a worker does with a connection on which something has arrived: one request. True: the connection
  /// stays open.
  using Serve = std::function<bool(Connection&)>;

  struct Limits {
    size_t connections;
    Clock::duration idle;
  };

  ConnectionPool(const Limits& limits, Serve serve);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// Takes a connection over. Where there are too many, the one that has been idle for longest is closed;
  /// where none is idle, the new one is refused: false.
  bool admit(std::unique_ptr<Connection>& connection);
  size_t open() const;

  /// Waits until all requests that have begun are answered, then closes idle connections; false where some
  /// are not answered by then. Meanwhile an idle connection may send one more request.
  bool drain(Clock::time_point deadline);

 private:
  using Held = std::unique_ptr<Connection>;
  void watch();
  void work();
  void add_idle(Held connection);
  void close_idle(Clock::time_point before);
  void wake();

  Limits limits_;
  Serve serve_;
  int epoll_, wake_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_, finished_;
  std::map<int, Held> idle_;  ///< by socket
  std::deque<Held> ready_;    ///< something has arrived
  size_t busy_ = 0, sleeping_ = 0;
  bool stopping_ = false, draining_ = false;
  std::vector<std::thread> workers_;
  std::thread watcher_;
};

}  // namespace synthesizer::serve
