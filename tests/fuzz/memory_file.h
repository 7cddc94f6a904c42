#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer::fuzz {

/// A file in memory for entry points that take a path: nothing reaches a disk, and writing costs two calls.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  void write(std::string_view contents) const;

 private:
  int descriptor_;
  std::string path_;
};

/// A temporary folder of such files under given names (as links), removed at the end.
class MemoryFolder {
 public:
  explicit MemoryFolder(const std::vector<std::string>& names);
  /// Of so many files, which the names stand for in turn.
  MemoryFolder(const std::vector<std::string>& names, size_t count);
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::string& path() const { return path_; }
  void write(size_t file, std::string_view contents) const { files_[file].write(contents); }

 private:
  std::string path_;
  std::vector<MemoryFile> files_;
};

/// Several contents in one input: before each but the last its length, two bytes little-endian. Contents that
/// are not there are empty.
std::vector<std::string_view> parts_of(std::string_view input, size_t count);

}  // namespace synthesizer::fuzz
