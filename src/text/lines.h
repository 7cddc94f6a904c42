#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace synthesizer {

/// The lines of a file, plain or gzipped, without their line ends (`\n` or `\r\n`) and without a byte order
/// mark before the first. "-" is standard input.
/// Throws InvalidInput where the file is missing, unreadable or damaged, and where a line is not UTF-8
/// ("train.en:17: byte 5 is not UTF-8 …").
class LineReader {
 public:
  explicit LineReader(std::string path);
  ~LineReader();
  LineReader(LineReader&&) noexcept;
  LineReader& operator=(LineReader&&) noexcept;

  /// The next line; false at the end.
  bool next(std::string& line);

  /// Whether next() has its answer at once, after waiting so long for that. Always true but where standard
  /// input is a pipe or a terminal that is still open.
  bool ready(int milliseconds);

  const std::string& path() const;
  int64_t number() const;  ///< of the line that next() gave, from 1

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

/// The text with spaces in place of its line ends.
std::string as_one_line(std::string text);

}  // namespace synthesizer
