#include "train/stop_signal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string_view>

#include "runtime/child_processes.h"

namespace synthesizer {
namespace {

// Nanoseconds in which another signal is the same request: from where the first came, or passed on.
constexpr int64_t same_request = 200'000'000, same_passed_on = 5'000'000'000;

// A handler may touch only what needs no lock.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);
std::atomic<int> asked_by = 0;
std::atomic<int64_t> asked_at = 0;  // far ahead until the first request has noted its time
std::atomic<bool> asked_by_starter = false;
std::atomic<bool> on_terminal = false;

int64_t now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void handle(int number, siginfo_t* info, void*) {
  const int error = errno;
  int none = 0;
  const pid_t starter = ChildProcesses::started_by();
  const bool from_starter = info->si_code == SI_USER && starter != 0 && info->si_pid == starter;
  if (asked_by.compare_exchange_strong(none, number)) {
    asked_by_starter = from_starter;
    asked_at = now();
    // On a terminal the cursor stands within a bar, behind the ^C.
    constexpr std::string_view text = "\nstopping after this step; once more stops at once\n";
    const auto shown = on_terminal ? text : text.substr(1);
    // Where standard error is gone there is nobody to tell.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, shown.data(), shown.size());
  } else {
    const bool passed_on = from_starter != asked_by_starter;
    if (number != SIGHUP && now() - asked_at > (passed_on ? same_passed_on : same_request)) ::_exit(1);
  }
  errno = error;
}

}  // namespace

StopSignal::StopSignal() {
  asked_by = 0;
  asked_at = std::numeric_limits<int64_t>::max();
  on_terminal = ::isatty(STDERR_FILENO) == 1;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;  // a file that is being written goes on being written
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
  ::sigaction(SIGHUP, nullptr, &hang_up_);
  if (hang_up_.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
}

StopSignal::~StopSignal() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
  ::sigaction(SIGHUP, &hang_up_, nullptr);
}

int StopSignal::signal() const {
  return asked_by;
}

}  // namespace synthesizer
