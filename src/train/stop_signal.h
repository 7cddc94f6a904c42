#pragma once

#include <csignal>

namespace synthesizer {

/// While one of these lives, the first SIGINT or SIGTERM only asks: a flag is set, and a line on standard
/// error says so, so that the loop can finish its step and save. A second one leaves at once with status 1,
/// whatever is half done. What comes within 20 ms of the first is the same request: `timeout` signals its
/// child and then the child's group. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool asked() const { return signal() != 0; }
  /// The signal that asked; 0 before.
  int signal() const;

 private:
  struct sigaction interrupt_ = {}, terminate_ = {};  ///< what was in force before
};

}  // namespace synthesizer
