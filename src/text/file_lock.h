#pragma once

#include <string>

namespace synthesizer {

/// Held by one process (or thread) at a time; the others wait in the constructor. It spares work and guards
/// nothing that matters: where the file system has no locks, nobody waits.
class FileLock {
 public:
  explicit FileLock(std::string path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool held() const { return held_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace synthesizer
