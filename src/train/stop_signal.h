#pragma once

#include <csignal>

namespace synthesizer {

/// While one of these lives, the first SIGINT, SIGTERM or SIGHUP only asks: a flag is set, and a line on
/// standard error says so, so that the loop can finish its step and save. A second SIGINT or SIGTERM leaves
/// at once with status 1, whatever is half done; a second SIGHUP does not, as a terminal that closes sends
/// several. What comes within 200 ms of the first is the same request: `timeout` signals its child and then
/// the child's group. So is, for 5 s, what the process that started this one passes on after the group got it
/// (ChildProcesses), or the other way round: on a busy machine that may take its time. A SIGHUP that was
/// ignored before (nohup) stays ignored. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool requested() const { return signal() != 0; }
  /// The signal that asked; 0 before.
  int signal() const;

 private:
  struct sigaction interrupt_ = {}, terminate_ = {}, hang_up_ = {};  ///< what was in force before
};

}  // namespace synthesizer
