#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace synthesizer {

namespace {

/// False, with errno set, where the lock cannot be had.
bool lock_descriptor(int descriptor, FileLock::Wait wait) {
  const int how = LOCK_EX | (wait == FileLock::Wait::never ? LOCK_NB : 0);
  int result = 0;
  do {
    result = ::flock(descriptor, how);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Whether the path still names the file that was opened.
bool still_names(const std::string& path, int descriptor) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

// A holder deletes the file while it holds the lock. Whoever waited for that lock then holds one on a file
// without a name, beside which others would lock the next file of that name: it starts again.
FileLock::FileLock(std::string path, Wait wait) : path_(std::move(path)), owner_(::getpid()) {
  while (!held_) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) return;
    if (!lock_descriptor(descriptor_, wait)) {
      busy_ = errno == EWOULDBLOCK;
      close();
      return;
    }
    held_ = still_names(path_, descriptor_);
    if (!held_) close();
  }
}

FileLock::~FileLock() {
  release();
}

void FileLock::release() {
  if (owner_ == ::getpid() && in_place()) ::unlink(path_.c_str());
  held_ = false;
  close();
}

void FileLock::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

bool FileLock::in_place() const {
  return held_ && still_names(path_, descriptor_);
}

void FileLock::set_text(std::string_view text) noexcept {
  if (!held_ || ::ftruncate(descriptor_, 0) != 0) return;
  [[maybe_unused]] const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), 0);
}

}  // namespace synthesizer
