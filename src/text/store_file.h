#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "text/content_hash.h"

namespace synthesizer {

/// What the index of a token store says of a file beside it.
struct StoredFile {
  std::string name;
  int64_t bytes = 0;
  std::string hash;
};

/// A file of numbers in the making: small writes are gathered, size and hash are kept.
class StoreFile {
 public:
  StoreFile(const std::string& folder, std::string name);

  template <typename T>
  void write(std::span<const T> values) {
    add(values.data(), values.size_bytes());
  }
  StoredFile commit();

 private:
  void add(const void* data, size_t bytes);
  void flush();

  StoredFile entry_;
  AtomicFile file_;
  ContentHash hash_;
  std::vector<char> buffer_;
};

}  // namespace synthesizer
