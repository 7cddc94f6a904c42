#include "base/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace synthesizer {
namespace {

constexpr size_t kOutputBuffer = size_t{1} << 16;

std::string& output_buffer() {
  static std::string buffer;
  return buffer;
}

bool silent = false;

/// All of it; false, with errno set, where the system will not. Waits where somebody made the descriptor
/// non-blocking, as terminals shared with other programs can be.
bool write_descriptor(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready = {descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void output_failed(int reason) {
  throw OutputFailed(
      fmt::format("standard output could not be written: {}; what follows is lost", std::strerror(reason)));
}

}  // namespace

void write_output(std::string_view text) {
  output_buffer() += text;
  if (output_buffer().size() >= kOutputBuffer) flush_output();
}

void flush_output() {
  std::string text;
  text.swap(output_buffer());
  if (!write_descriptor(STDOUT_FILENO, text)) output_failed(errno);
  text.clear();
  output_buffer().swap(text);  // its memory is used again
}

void finish_output() {
  flush_output();
  // One that was closed from the start, and that nothing was written to, is no error.
  if (::close(STDOUT_FILENO) != 0 && errno != EBADF && errno != EINTR) output_failed(errno);
}

void write_note(std::string_view text) noexcept {
  if (!silent) write_error(text);
}

void write_error(std::string_view text) noexcept {
  write_descriptor(STDERR_FILENO, text);
}

void be_quiet() {
  silent = true;
}

bool quiet() {
  return silent;
}

void prepare_output() {
  std::signal(SIGPIPE, SIG_IGN);
  // Each is taken the wrong way round, so that using it fails as before. open() gives the lowest free number.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace synthesizer
