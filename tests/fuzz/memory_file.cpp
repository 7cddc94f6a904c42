#include "fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace synthesizer::fuzz {
namespace {

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MemoryFile::MemoryFile()
    : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)),
      path_("/proc/self/fd/" + std::to_string(descriptor_)) {
  check(descriptor_ >= 0, "memfd_create");
}

MemoryFile::~MemoryFile() {
  ::close(descriptor_);
}

void MemoryFile::write(std::string_view contents) const {
  check(::ftruncate(descriptor_, 0) == 0, "ftruncate");
  const ssize_t written = ::pwrite(descriptor_, contents.data(), contents.size(), 0);
  check(written == static_cast<ssize_t>(contents.size()), "pwrite");
}

MemoryFolder::MemoryFolder(const std::vector<std::string>& names) : MemoryFolder(names, names.size()) {}

MemoryFolder::MemoryFolder(const std::vector<std::string>& names, size_t count) : files_(count) {
  std::string made = (std::filesystem::temp_directory_path() / "fuzz_XXXXXX").string();
  check(::mkdtemp(made.data()) != nullptr, "mkdtemp");
  path_ = made;
  for (size_t i = 0; i < names.size(); ++i)
    std::filesystem::create_symlink(files_[i % count].path(), std::filesystem::path(path_) / names[i]);
}

MemoryFolder::~MemoryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string_view> parts_of(std::string_view input, size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count && input.size() >= 2) {
    const size_t length = static_cast<unsigned char>(input[0]) + 256u * static_cast<unsigned char>(input[1]);
    parts.push_back(input.substr(2, length));
    input.remove_prefix(2 + parts.back().size());
  }
  if (parts.size() + 1 == count) parts.push_back(input);
  parts.resize(count);
  return parts;
}

}  // namespace synthesizer::fuzz
