#pragma once

#include <string>

namespace synthesizer {

// What survives a power loss: a file's bytes when it was synced, its name when its folder was. AtomicFile
// (file.h) does both.

/// Makes a folder, and those it lies in; folders that are there already are fine. Each new one survives a
/// power loss. Throws InvalidInput where a file is in the way, otherwise std::runtime_error.
void make_folders(const std::string& path);

/// Throws InvalidInput where make_folders would find a file in the way. Nothing is made.
void check_no_file_in_the_way(const std::string& path);

/// All names in a folder survive a power loss. False, with errno set, where that failed; a folder that nobody
/// can open or sync is as safe as it can be.
bool sync_folder(const std::string& path);

/// The bytes of a file survive a power loss. Throws std::runtime_error.
void sync_file(const std::string& path);

/// What to throw where a file that somebody named cannot be opened: InvalidInput where it is missing or not
/// theirs to read, std::runtime_error where the machine failed. `reason`: errno.
[[noreturn]] void cannot_read(const std::string& path, int reason);

}  // namespace synthesizer
