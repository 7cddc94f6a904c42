#include "serve/signals.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace synthesizer::serve {
namespace {

constexpr std::array<int, 4> kSignals = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};

// A handler may touch only what needs no lock: it writes the signal's number into a pipe.
std::array<int, 2> signal_pipe = {-1, -1};
std::atomic<int> asked_to_stop = 0;

void on_signal(int number) {
  const int error = errno;
  if (number != SIGHUP && ++asked_to_stop > 1) ::_exit(1);
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &byte, 1);
  errno = error;
}

}  // namespace

Signals::Signals() {
  if (::pipe(signal_pipe.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  asked_to_stop = 0;
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

Signals::Kind Signals::next() const {
  char byte = 0;
  while (::read(signal_pipe[0], &byte, 1) != 1) {
  }
  return byte == SIGHUP ? Kind::reload : Kind::stop;
}

}  // namespace synthesizer::serve
