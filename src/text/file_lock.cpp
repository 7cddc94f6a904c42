#include "text/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace synthesizer {

namespace {

bool wait_for_lock(int descriptor) {
  int result = 0;
  do {
    result = ::flock(descriptor, LOCK_EX);
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
FileLock::FileLock(std::string path) : path_(std::move(path)) {
  while (!held_) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0 || !wait_for_lock(descriptor_)) return;
    held_ = still_names(path_, descriptor_);
    if (!held_) ::close(descriptor_);
  }
}

FileLock::~FileLock() {
  if (held_) ::unlink(path_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace synthesizer
