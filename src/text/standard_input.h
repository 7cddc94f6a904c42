#pragma once

#include <string_view>
#include <vector>

namespace synthesizer {

/// Standard input, read as it comes: a read gives what is there and does not wait for more.
class StandardInput {
 public:
  /// Waits for the first bytes. Throws InvalidInput where there is no standard input.
  StandardInput();
  ~StandardInput();
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

  /// Whether the first bytes are those of a gzip file.
  bool gzipped() const { return first_.starts_with("\x1F\x8B"); }
  /// All of it in a file without a name, for who must read it by another way; the caller closes the
  /// descriptor. Comes before read().
  int spooled();

  /// The next bytes, valid until the next call; none at the end. Throws std::runtime_error where the system
  /// will not give them.
  std::string_view read();
  /// Whether read() would not wait, after waiting so long for that.
  bool ready(int milliseconds) const;

 private:
  std::string_view read_more(size_t kept);

  int descriptor_ = -1;
  std::vector<char> buffer_;
  std::string_view first_;  ///< read by the constructor and not given out yet
};

}  // namespace synthesizer
