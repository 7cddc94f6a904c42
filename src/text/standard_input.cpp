#include "text/standard_input.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "base/error.h"

namespace synthesizer {
namespace {

[[noreturn]] void input_failed(const char* what) {
  throw std::runtime_error(fmt::format("standard input {}: {}", what, std::strerror(errno)));
}

}  // namespace

StandardInput::StandardInput() : descriptor_(::dup(STDIN_FILENO)), buffer_(size_t{1} << 17) {
  if (descriptor_ < 0) invalid(fmt::format("standard input cannot be read: {}", std::strerror(errno)));
  first_ = read_more(0);
  // Two bytes tell a gzip file.
  while (first_.size() == 1) {
    const std::string_view more = read_more(1);
    if (more.empty()) break;
    first_ = {buffer_.data(), 1 + more.size()};
  }
}

StandardInput::~StandardInput() {
  ::close(descriptor_);
}

std::string_view StandardInput::read_more(size_t kept) {
  for (;;) {
    const ssize_t bytes = ::read(descriptor_, buffer_.data() + kept, buffer_.size() - kept);
    if (bytes >= 0) return {buffer_.data() + kept, static_cast<size_t>(bytes)};
    if (errno == EAGAIN) {
      ready(-1);  // somebody made it non-blocking
    } else if (errno != EINTR) {
      input_failed("could not be read");
    }
  }
}

std::string_view StandardInput::read() {
  if (first_.empty()) return read_more(0);
  const std::string_view bytes = first_;
  first_ = {};
  return bytes;
}

bool StandardInput::ready(int milliseconds) const {
  if (!first_.empty()) return true;
  pollfd input = {descriptor_, POLLIN, 0};
  int found = 0;
  while ((found = ::poll(&input, 1, milliseconds)) < 0 && errno == EINTR) {
  }
  return found != 0;
}

int StandardInput::spooled() {
  const int file = ::memfd_create("standard input", MFD_CLOEXEC);
  if (file < 0) input_failed("could not be kept");
  for (std::string_view bytes = read(); !bytes.empty(); bytes = read()) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file, bytes.data(), bytes.size());
      if (written < 0) {
        ::close(file);
        input_failed("could not be kept");
      }
      bytes.remove_prefix(static_cast<size_t>(written));
    }
  }
  ::lseek(file, 0, SEEK_SET);
  return file;
}

}  // namespace synthesizer
