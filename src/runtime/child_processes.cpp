#include "runtime/child_processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "base/output.h"

namespace synthesizer {
namespace {

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP};

// What the signal handler needs.
std::atomic<pid_t> child_pids[ChildProcesses::kMost];  // 0: it has ended
std::atomic<size_t> child_count = 0;
std::atomic<int> signal_received = 0;

pid_t starter = 0;  // of this process, where it is a child itself

void pass_on(int number, siginfo_t* info, void*) {
  const int error = errno;
  signal_received = number;
  // What the terminal sends (Ctrl-C) it sends to the children too.
  for (size_t child = 0; info->si_code != SI_KERNEL && child < child_count; ++child) {
    const pid_t pid = child_pids[child];
    if (pid > 0) ::kill(pid, number);
  }
  errno = error;
}

/// In the child. Nothing goes on writing behind the back of who starts it again.
void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before that was arranged
}

}  // namespace

ChildProcesses::ChildProcesses() {
  static_assert(std::size(kPassedOn) == kSignals);
  child_count = 0;
  signal_received = 0;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask_before_);
  block_signals();
  struct sigaction action = {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (size_t i = 0; i < kSignals; ++i) {
    struct sigaction& outside = actions_outside_[i];
    ::sigaction(kPassedOn[i], nullptr, &outside);
    const bool ignored = outside.sa_handler == SIG_IGN;
    if (ignored && kPassedOn[i] == SIGHUP) continue;
    if (ignored) outside.sa_handler = SIG_DFL;
    ::sigaction(kPassedOn[i], &action, nullptr);
  }
}

ChildProcesses::~ChildProcesses() {
  kill_running();
  for (size_t child = 0; child < count(); ++child) {
    if (outcome(child)) continue;
    while (::waitpid(child_pids[child], nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  child_count = 0;
  restore_signals();
}

void ChildProcesses::restore_signals() {
  for (size_t i = 0; i < kSignals; ++i) ::sigaction(kPassedOn[i], &actions_outside_[i], nullptr);
  unblock_signals();
}

void ChildProcesses::unblock_signals() {
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void ChildProcesses::block_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : kPassedOn) sigaddset(&all, number);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
}

void ChildProcesses::start(const std::function<int()>& body) {
  flush_output();  // else both would write it
  if (count() == kMost) throw std::system_error(EAGAIN, std::generic_category(), "cannot start a process");
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (child == 0) {
    die_with(parent);
    starter = parent;
    outcomes_.clear();  // the others are not its children
    child_count = 0;
    restore_signals();
    const int status = body();
    finish_output();
    ::_exit(status);
  }
  child_pids[count()] = child;
  outcomes_.emplace_back();
  child_count = count();
}

std::optional<size_t> ChildProcesses::wait(std::optional<Clock::time_point> until) {
  unblock_signals();
  const auto ended = wait_with_signals(until);
  block_signals();
  return ended;
}

std::optional<size_t> ChildProcesses::wait_with_signals(std::optional<Clock::time_point> until) {
  for (;;) {
    // It is left to be reaped until nobody can send it a signal any more: its number may then be given to
    // another process.
    siginfo_t ended = {};
    const int found = ::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT | (until ? WNOHANG : 0));
    if (found != 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "cannot wait for a process");
    if (found != 0 || ended.si_pid == 0) {
      if (until && Clock::now() >= *until) return std::nullopt;
      if (until) ::usleep(5000);
      continue;
    }
    size_t child = 0;
    while (child < count() && child_pids[child] != ended.si_pid) ++child;
    if (child < count()) child_pids[child] = 0;
    int status = 0;
    while (::waitpid(ended.si_pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (child == count()) continue;  // not one of ours
    ChildOutcome& outcome = outcomes_[child].emplace();
    if (WIFEXITED(status)) outcome.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.killed_by = WTERMSIG(status);
    return child;
  }
}

void ChildProcesses::kill_running() {
  for (size_t child = 0; child < count(); ++child) {
    if (!outcome(child)) ::kill(child_pids[child], SIGKILL);
  }
}

pid_t ChildProcesses::started_by() {
  return starter;
}

int ChildProcesses::stop_signal() {
  return signal_received;
}

}  // namespace synthesizer
