#pragma once

#include <csignal>

namespace synthesizer::serve {

/// SIGTERM, SIGINT and SIGHUP as events, while one of these lives; SIGPIPE is ignored. A second SIGTERM or
/// SIGINT ends the process at once with status 1. One at a time.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  enum class Kind { stop, reload };
  /// Waits for the next one.
  Kind next() const;

 private:
  struct sigaction before_[4] = {};
};

}  // namespace synthesizer::serve
