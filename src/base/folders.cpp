#include "base/folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/error.h"

namespace synthesizer {

namespace fs = std::filesystem;

namespace {

/// False, with errno set, where it failed.
bool sync_path(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) return false;
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  return synced;
}

[[noreturn]] void failed(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("{} {}: {}", path, what, std::strerror(errno)));
}

}  // namespace

bool sync_folder(const std::string& path) {
  return sync_path(path, O_DIRECTORY) || errno == EACCES;
}

void sync_file(const std::string& path) {
  if (!sync_path(path, 0)) failed(path, "could not be written");
}

void check_no_file_in_the_way(const std::string& path) {
  std::error_code ignored;
  for (fs::path folder = fs::absolute(path); folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::is_directory(folder, ignored)) return;
    if (fs::exists(folder, ignored))
      invalid(fmt::format("{} cannot be made: {} is a file", path, folder.string()));
  }
}

void make_folders(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return;
  check_no_file_in_the_way(path);
  const fs::path whole = fs::absolute(path);
  const fs::path folder = whole.has_filename() ? whole : whole.parent_path();  // "a/" names a
  if (folder.has_relative_path()) make_folders(folder.parent_path().string());
  if (::mkdir(folder.c_str(), 0777) != 0) {
    if (errno == EEXIST && fs::is_directory(folder, ignored)) return;  // somebody else was faster
    failed(path, "cannot be made");
  }
  if (!sync_folder(folder.parent_path().string())) failed(path, "cannot be made");
}

void cannot_read(const std::string& path, int reason) {
  const std::string message = fmt::format("{} cannot be read: {}", path, std::strerror(reason));
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO: invalid(message);
    default: throw std::runtime_error(message);
  }
}

}  // namespace synthesizer
