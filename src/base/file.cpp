#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"
#include "base/folders.h"

namespace synthesizer {
namespace {

/// Writes all of it; false with errno set where the system will not.
bool write_all(int descriptor, const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<size_t>(written);
  }
  return true;
}

std::string reason_text(int reason) {
  return reason == ENOENT ? "its folder is not there any more" : std::strerror(reason);
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), temporary_(fmt::format("{}.tmp{}", path_, ::getpid())) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("cannot be written");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* what) const {
  const int reason = errno;
  throw std::runtime_error(
      fmt::format("{} {}: {}; what was there before is untouched", path_, what, reason_text(reason)));
}

void AtomicFile::write(const void* data, size_t bytes) {
  if (!write_all(descriptor_, static_cast<const char*>(data), bytes)) fail("could not be written");
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("could not be written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("could not be put in place");
  ::close(descriptor_);
  descriptor_ = -1;
  if (sync_folder(std::filesystem::absolute(path_).parent_path().string())) return;
  throw std::runtime_error(
      fmt::format("{} is in place, but a power loss may undo it: {}", path_, reason_text(errno)));
}

bool is_temporary(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits < name.size() && name.substr(0, digits).ends_with(".tmp");
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) invalid(fmt::format("{} is a folder, not a file", path));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_read(path, errno);
  std::string text;
  ssize_t bytes = 0;
  int reason = 0;
  try {
    constexpr size_t kBlock = size_t{1} << 16;
    do {
      const size_t before = text.size();
      text.resize(before + kBlock);
      bytes = ::read(descriptor, text.data() + before, kBlock);
      reason = errno;
      text.resize(before + static_cast<size_t>(std::max<ssize_t>(bytes, 0)));
    } while (bytes > 0 || (bytes < 0 && reason == EINTR));
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  if (bytes < 0) cannot_read(path, reason);
  return text;
}

LineLog::LineLog(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw std::runtime_error(fmt::format("{} cannot be written: {}", path, std::strerror(errno)));
  }
}

LineLog::~LineLog() {
  ::close(descriptor_);
}

void LineLog::add(std::string_view line) {
  const std::string whole = std::string(line) + "\n";
  if (!write_all(descriptor_, whole.data(), whole.size())) {
    throw std::runtime_error(fmt::format("{} could not be written: {}", path_, std::strerror(errno)));
  }
}

}  // namespace synthesizer
