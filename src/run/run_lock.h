#pragma once

#include <string>
#include <vector>

#include "base/file_lock.h"

namespace synthesizer {

/// The right to write into the folder of a run or of a comparison. One command at a time has it: whoever
/// comes second is refused and told who is first. Readers need none, as files are replaced whole.
///
/// It is a file, ".lock", that is gone when the command has ended. What a killed command has left of it
/// refuses nobody. Where the file system has no locks, nobody is refused.
class RunLock {
 public:
  /// Makes the folder where there is none. `command`: as it was typed. Throws InvalidInput with the process
  /// and the command that has the lock, std::runtime_error where the folder cannot be made.
  RunLock(std::string folder, const std::vector<std::string>& command);
  /// A folder that was made for it and is still empty goes too.
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Whether the folder may become a new run: nothing is in it.
  bool folder_is_empty() const;
  /// Deletes config.toml and what is written before it: what a command that failed has put into a new run.
  void clear_folder() const;

  /// The same for a folder that nobody has locked yet. What a killed command has left of a run that it had
  /// not finished making is deleted: a lock, no config.toml, and nothing but files that a new run begins
  /// with. Throws InvalidInput, as the constructor, where a command is at work in it.
  static bool free_for_new_run(const std::string& folder);

 private:
  std::string folder_;
  bool made_folder_;
  FileLock lock_;
};

}  // namespace synthesizer
