#include "runtime/child_error.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace synthesizer {

ChildError::ChildError() : file_(::memfd_create("error", MFD_CLOEXEC)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
}

ChildError::~ChildError() {
  if (file_ >= 0) ::close(file_);
}

ChildError::ChildError(ChildError&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

void ChildError::say(std::string_view why) const noexcept {
  // Where there is no memory for it, the parent reports the status alone.
  [[maybe_unused]] const ssize_t written = ::write(file_, why.data(), why.size());
}

std::string ChildError::said() const {
  std::string text(static_cast<size_t>(std::max<off_t>(0, ::lseek(file_, 0, SEEK_END))), '\0');
  const ssize_t size = ::pread(file_, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, size)));
  return text;
}

}  // namespace synthesizer
