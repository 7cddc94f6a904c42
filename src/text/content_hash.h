#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace synthesizer {

/// XXH3-128 of bytes that come piece by piece: it tells contents apart and is faster than a disk.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(ContentHash&&) noexcept;
  ContentHash& operator=(ContentHash&&) noexcept;

  void add(const void* data, size_t bytes);
  /// A text with its length, so that "ab", "c" and "a", "bc" differ.
  void add(std::string_view text);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string content_hash(const void* data, size_t bytes);

/// Of a file's bytes as they are on disk. Throws InvalidInput where it cannot be read.
std::string file_hash(const std::string& path);

}  // namespace synthesizer
