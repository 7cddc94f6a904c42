#pragma once

#include <csignal>

namespace synthesizer::serve {

/// SIGTERM, SIGINT and SIGHUP as events, while one of these lives; SIGPIPE is ignored. A second SIGTERM or
/// SIGINT ends the process at once with status 1. What comes within 200 ms of the first is the same request:
/// `timeout` signals its child and then the child's group. One at a time.
class Signals {
 public:
  /// Until start_events(), SIGTERM and SIGINT end the process at once with status 0, and a SIGHUP is kept.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  void start_events();

  enum class Kind { stop, reload };
  /// Waits for the next one.
  Kind next() const;

 private:
  struct sigaction before_[4] = {};
};

}  // namespace synthesizer::serve
