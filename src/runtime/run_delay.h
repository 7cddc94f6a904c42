#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <unordered_map>

namespace synthesizer {

/// How long threads that compute waited for a core, as Linux counts it (schedstat): near zero while the
/// process has its cores to itself, and up to a second per second and thread where others want them too. One
/// thread at a time.
///
/// Threads that only wake up for a moment (those of a server's connections) do not count: a hundred of them,
/// each waiting briefly behind a thread that computes, would look like another process.
class RunDelay {
 public:
  /// `tasks`: one folder per thread, /proc/self/task. Looks for new threads whenever `renewal` has passed:
  /// opening their files costs thirty times as much as reading them again.
  explicit RunDelay(std::filesystem::path tasks = "/proc/self/task",
                    std::chrono::milliseconds renewal = std::chrono::milliseconds(500));
  ~RunDelay();
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// Whether this system counts it.
  bool available() const { return !threads_.empty(); }

  /// How long all threads that compute together have waited since the last call (or the constructor). Threads
  /// that were found since then count from now on; what a thread waited just before it ended is lost.
  std::chrono::nanoseconds since_last();

 private:
  /// Nanoseconds since a thread started.
  struct Times {
    int64_t running, waiting;  ///< on a core, for a core
  };
  struct Thread {
    int file;
    Times times;
  };
  static std::optional<Times> read_times(int file);
  void look_for_threads();

  std::filesystem::path tasks_;
  std::chrono::milliseconds renewal_;
  std::chrono::steady_clock::time_point looked_, last_;
  std::unordered_map<int64_t, Thread> threads_;  ///< by their numbers
};

}  // namespace synthesizer
