#include "text/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace synthesizer {

MappedFile::MappedFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  bool well = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
  if (well && status.st_size > 0) {
    bytes_ = static_cast<size_t>(status.st_size);
    data_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor, 0);
    well = data_ != MAP_FAILED;
  }
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!well) throw std::runtime_error(fmt::format("{} cannot be read: {}", path, std::strerror(reason)));
}

MappedFile::~MappedFile() {
  if (bytes_ > 0) ::munmap(data_, bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace synthesizer
