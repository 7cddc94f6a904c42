#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace synthesizer {

/// How a child process ended.
struct ChildOutcome {
  int exit_status = 0;  ///< where it ended by itself
  int killed_by = 0;    ///< the signal; 0: it ended by itself
  bool failed() const { return exit_status != 0 || killed_by != 0; }
};

/// Processes forked from this one that are waited for together. None of them outlives this process, however
/// it ends.
///
/// SIGINT, SIGTERM and SIGHUP that come to this process while one of these lives are passed on to all that
/// still run, and nothing else happens here: the children save and end. A SIGHUP that was ignored before
/// (nohup) stays ignored. SIGINT and SIGTERM count also where they were ignored, as a shell's script ignores
/// SIGINT for what it starts in the background: in the children, and in this process, also afterwards. One at
/// a time, in the main thread, before this process has threads.
class ChildProcesses {
 public:
  static constexpr size_t kMost = 1024;
  using Clock = std::chrono::steady_clock;

  ChildProcesses();
  /// Kills those that still run.
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  /// Forks a process that calls `body` and ends with the status it returns. What `body` throws goes up to
  /// whoever catches it, in the child. Signals are handled in wait() alone, so that all that were started get
  /// them. Throws std::system_error where the system has no process left.
  void start(const std::function<int()>& body);

  /// Waits until one of them ends, and returns its number; nothing where none does before that time.
  std::optional<size_t> wait(std::optional<Clock::time_point> until = std::nullopt);

  size_t count() const { return outcomes_.size(); }
  /// Nothing while it runs.
  const std::optional<ChildOutcome>& outcome(size_t child) const { return outcomes_[child]; }
  void kill_running();
  /// The signal that this process got meanwhile; 0: none.
  static int stop_signal();
  /// In a process that was started so: the one that passes signals on to it. Else 0.
  static pid_t started_by();

 private:
  static constexpr size_t kSignals = 3;
  void restore_signals();
  void unblock_signals();
  void block_signals();
  std::optional<size_t> wait_with_signals(std::optional<Clock::time_point> until);

  std::vector<std::optional<ChildOutcome>> outcomes_;
  struct sigaction actions_outside_[kSignals] = {};  ///< in the children, and here afterwards
  sigset_t mask_before_ = {};
};

}  // namespace synthesizer
