#include "train/stop_signal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "runtime/child_processes.h"

namespace synthesizer {
namespace {

constexpr const char* message = "stopping after this step; once more stops at once\n";

struct ProcessEnd {
  int status = 0;
  std::string errors;
};

/// Runs it in a process of its own, whose standard error is the descriptor; its result is the exit status.
ProcessEnd run(int reader, int writer, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(writer, STDERR_FILENO);
    ::_exit(body());
  }
  ProcessEnd outcome;
  ::waitpid(child, &outcome.status, 0);
  ::close(writer);
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(reader, buffer, sizeof buffer)) > 0;) outcome.errors.append(buffer, n);
  ::close(reader);
  return outcome;
}

ProcessEnd run(const std::function<int()>& body) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  return run(ends[0], ends[1], body);
}

void wait_for_next_request() {
  ::usleep(250'000);
}

TEST(StopSignal, IsNotAskedBefore) {
  const StopSignal stop;
  EXPECT_FALSE(stop.requested());
  EXPECT_EQ(stop.signal(), 0);
}

TEST(StopSignal, TheFirstSignalOnlyAsks) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto outcome = run([number] {
      const StopSignal stop;
      ::raise(number);
      return stop.requested() && stop.signal() == number ? 42 : 43;
    });
    EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
    EXPECT_EQ(outcome.errors, message);
  }
}

TEST(StopSignal, TheSecondLeavesAtOnce) {
  for (const int second : {SIGINT, SIGTERM}) {
    const auto outcome = run([second] {
      const StopSignal stop;
      ::raise(SIGINT);
      wait_for_next_request();
      ::raise(second);
      return 42;
    });
    EXPECT_TRUE(WIFEXITED(outcome.status));
    EXPECT_EQ(WEXITSTATUS(outcome.status), 1);
    EXPECT_EQ(outcome.errors, message);
  }
}

TEST(StopSignal, ASignalDeliveredTwiceIsOneRequest) {
  const auto outcome = run([] {
    const StopSignal stop;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    return stop.signal() == SIGTERM ? 42 : 43;
  });
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
  EXPECT_EQ(outcome.errors, message);
}

/// A child of ChildProcesses that gets SIGTERM from elsewhere, and later from the process that started it.
int status_after_both(useconds_t between, bool twice_from_elsewhere) {
  ChildProcesses children;
  children.start([&] {
    const StopSignal stop;
    EXPECT_EQ(ChildProcesses::started_by(), ::getppid());
    const pid_t own = ::getpid(), other = ::fork();
    if (other == 0) ::_exit(::kill(own, SIGTERM));
    ::waitpid(other, nullptr, 0);
    const pid_t later = ::fork();
    if (later == 0) {
      ::usleep(between);
      ::_exit(::kill(twice_from_elsewhere ? own : ChildProcesses::started_by(), SIGTERM));
    }
    ::waitpid(later, nullptr, 0);
    ::usleep(100'000);
    return stop.signal() == SIGTERM ? 42 : 43;
  });
  children.wait();
  return children.outcome(0)->exit_status;
}

TEST(StopSignal, WhatIsPassedOnLaterIsTheSameRequest) {
  EXPECT_EQ(status_after_both(500'000, /*twice_from_elsewhere=*/false), 42);
  EXPECT_EQ(status_after_both(500'000, /*twice_from_elsewhere=*/true), 1);
}

TEST(StopSignal, AClosedTerminalMaySayItTwice) {
  const auto outcome = run([] {
    const StopSignal stop;
    ::raise(SIGHUP);
    wait_for_next_request();
    ::raise(SIGHUP);
    return stop.signal() == SIGHUP ? 42 : 43;
  });
  EXPECT_TRUE(WIFEXITED(outcome.status));
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
  EXPECT_EQ(outcome.errors, message);
}

TEST(StopSignal, UnderNohupAClosedTerminalMeansNothing) {
  const auto outcome = run([] {
    ::signal(SIGHUP, SIG_IGN);
    const StopSignal stop;
    ::raise(SIGHUP);
    return stop.requested() ? 43 : 42;
  });
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
  EXPECT_EQ(outcome.errors, "");
}

TEST(StopSignal, OnATerminalTheMessageBeginsALine) {
  int terminal = -1, inside = -1;
  ASSERT_EQ(::openpty(&terminal, &inside, nullptr, nullptr, nullptr), 0);
  const auto outcome = run(terminal, inside, [] {
    const StopSignal stop;
    ::raise(SIGINT);
    return 0;
  });
  EXPECT_EQ(outcome.errors, "\r\nstopping after this step; once more stops at once\r\n");
}

TEST(StopSignal, ErrnoIsLeftAlone) {
  const auto outcome = run([] {
    const StopSignal stop;
    ::close(STDERR_FILENO);  // so that the message fails
    errno = 77;
    ::raise(SIGINT);
    return errno == 77 && stop.requested() ? 42 : 43;
  });
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
}

TEST(StopSignal, WhatWasInForceBeforeComesBack) {
  const auto outcome = run([] {
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_DFL);
    { const StopSignal stop; }
    ::raise(SIGINT);
    ::raise(SIGTERM);
    return 42;
  });
  EXPECT_TRUE(WIFSIGNALED(outcome.status));
  EXPECT_EQ(WTERMSIG(outcome.status), SIGTERM);
}

TEST(StopSignal, ANewOneStartsUnasked) {
  const auto outcome = run([] {
    {
      const StopSignal stop;
      ::raise(SIGINT);
    }
    wait_for_next_request();
    const StopSignal stop;
    if (stop.requested()) return 43;
    ::raise(SIGTERM);
    return stop.signal() == SIGTERM ? 42 : 44;
  });
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
}

TEST(StopSignal, AReadGoesOnAfterIt) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  const auto outcome = run([&ends] {
    const StopSignal stop;
    const pid_t parent = ::getpid(), sender = ::fork();
    if (sender == 0) {
      ::usleep(20'000);
      ::kill(parent, SIGINT);
      ::usleep(20'000);
      ::_exit(::write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    char byte = 0;
    const ssize_t got = ::read(ends[0], &byte, 1);
    ::waitpid(sender, nullptr, 0);
    return got == 1 && byte == 'x' && stop.requested() ? 42 : 43;
  });
  EXPECT_EQ(WEXITSTATUS(outcome.status), 42);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace synthesizer
