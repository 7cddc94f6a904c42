#include "serve/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string_view>
#include <system_error>

namespace synthesizer::serve {
namespace {

constexpr std::array<int, 4> kSignals = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
constexpr int64_t kSameRequest = 200'000'000;  // nanoseconds

// A handler may touch only what needs no lock: it writes the signal's number into a pipe.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);
std::array<int, 2> signal_pipe = {-1, -1};
std::atomic<bool> starting = false, asked_to_stop = false;
std::atomic<int64_t> stop_asked_at = 0;  // far ahead until the first request has noted its time

int64_t monotonic_nanoseconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// True where the server has to be told.
bool is_first_request_to_stop() {
  if (starting) {  // no request has been accepted
    constexpr std::string_view text = "synth: stopped before the server was ready\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(0);
  }
  if (!asked_to_stop.exchange(true)) {
    stop_asked_at = monotonic_nanoseconds();
    return true;
  }
  if (monotonic_nanoseconds() - stop_asked_at > kSameRequest) ::_exit(1);
  return false;
}

void on_signal(int number) {
  const int error = errno;
  if (number == SIGHUP || is_first_request_to_stop()) {
    const char byte = static_cast<char>(number);
    [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &byte, 1);
  }
  errno = error;
}

}  // namespace

Signals::Signals() {
  if (::pipe2(signal_pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  // A handler must not wait where nobody reads.
  ::fcntl(signal_pipe[1], F_SETFL, ::fcntl(signal_pipe[1], F_GETFL) | O_NONBLOCK);
  starting = true;
  asked_to_stop = false;
  stop_asked_at = std::numeric_limits<int64_t>::max();
  for (size_t n = 0; n < kSignals.size(); ++n) {
    struct sigaction action = {};
    action.sa_handler = kSignals[n] == SIGPIPE ? SIG_IGN : on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[n], &action, &before_[n]);
  }
}

Signals::~Signals() {
  for (size_t n = 0; n < kSignals.size(); ++n) ::sigaction(kSignals[n], &before_[n], nullptr);
  for (int& end : signal_pipe) {
    ::close(end);
    end = -1;
  }
}

void Signals::start_events() {
  starting = false;
}

Signals::Kind Signals::next() const {
  char byte = 0;
  while (::read(signal_pipe[0], &byte, 1) != 1) {
  }
  return byte == SIGHUP ? Kind::reload : Kind::stop;
}

}  // namespace synthesizer::serve
