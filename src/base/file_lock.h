#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// A file that one process (or thread) holds at a time. The holder deletes it at the end; what a killed one
/// has left is taken by the next. Where the file system has no locks, or the file cannot be made, nobody
/// holds it and nobody waits.
class FileLock {
 public:
  /// Whether to wait in the constructor while somebody else holds it.
  enum class Wait { forever, never };

  explicit FileLock(std::string path, Wait wait = Wait::forever);
  /// A process forked from the holder leaves the file alone.
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }
  /// Somebody else holds it (Wait::never).
  bool busy() const { return busy_; }
  /// The path still names the file that is held: nobody has deleted or replaced it.
  bool in_place() const;
  /// Gives it back before this object is gone.
  void release();
  /// For whoever finds it busy. Never fails.
  void set_text(std::string_view text) noexcept;

 private:
  void close();

  std::string path_;
  int descriptor_ = -1, owner_ = 0;
  bool held_ = false, busy_ = false;
};

}  // namespace synthesizer
