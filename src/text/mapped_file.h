#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace synthesizer {

/// A file to read as if it were memory; the system brings in what is looked at and drops it when memory is
/// short, so that files larger than memory are no matter.
class MappedFile {
 public:
  /// Throws std::runtime_error where the file cannot be mapped.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  size_t bytes() const { return bytes_; }
  const void* data() const { return data_; }
  /// As numbers of one kind; bytes behind the last whole one are left out.
  template <typename T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace synthesizer
