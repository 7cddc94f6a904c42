#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace synthesizer {

/// A file that appears whole or not at all: it is written under a temporary name beside its place, synced and
/// renamed by commit(). Without commit() nothing is left behind, and what was there before stays.
/// Throws std::runtime_error, with the path and the system's reason, where writing fails (disk full).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string path_, temporary_;
  int descriptor_ = -1;
};

/// Whether a file of that name is one that AtomicFile had not finished when its program was killed.
bool is_temporary(std::string_view name);

/// The same for a text that is at hand.
void write_file(const std::string& path, std::string_view text);

/// The whole file. Throws InvalidInput where it is missing or unreadable.
std::string read_file(const std::string& path);

/// A file that only grows, a line at a time; a line is written by one call, so that none is torn by a kill.
class LineLog {
 public:
  explicit LineLog(const std::string& path);
  ~LineLog();
  LineLog(const LineLog&) = delete;
  LineLog& operator=(const LineLog&) = delete;
  void add(std::string_view line);

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace synthesizer
