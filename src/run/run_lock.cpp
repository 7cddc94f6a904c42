#include "run/run_lock.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "run/run_folder.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = ".lock";
/// What a run has before its config.toml, which is written last.
constexpr const char* kFirstFiles[] = {"tokenizer.model", "tokenizer.target.model", "run.json",
                                       "model.safetensors", "metrics.jsonl"};

bool is_first_file(const std::string& name) {
  return is_temporary(name) ||
         std::find(std::begin(kFirstFiles), std::end(kFirstFiles), name) != std::end(kFirstFiles);
}

std::string lock_file(const std::string& folder) {
  return folder + "/" + kLockName;
}

/// Whether it had to be made.
bool made(const std::string& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return false;
  make_folders(folder);
  return true;
}

/// "123 synth train r.toml --run r": the text of the lock.
std::string holder_text(const std::vector<std::string>& command) {
  std::string words = command.empty() ? "synth" : fs::path(command[0]).filename().string();
  for (size_t i = 1; i < command.size(); ++i) words += " " + command[i];
  return fmt::format("{} {}", ::getpid(), words);
}

/// Whether a process of this machine is stopped (SIGSTOP, Ctrl-Z): it gets no other signal but SIGKILL then.
bool is_stopped(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(") ");  // "123 (synth) T 1 …"; the name may have any characters
  return name_end != text.npos && text.substr(name_end + 2, 1) == "T";
}

/// Whoever has it may not have written its text yet, or have ended meanwhile.
std::string holder(const std::string& folder) {
  std::string text;
  try {
    text = read_file(lock_file(folder));
  } catch (const std::exception&) {
  }
  const size_t blank = text.find(' ');
  if (blank == std::string::npos) return "another process: wait until it has ended";
  const std::string process = text.substr(0, blank);
  const std::string command = text.substr(blank + 1);
  if (is_stopped(process)) {
    return fmt::format(
        "process {} ({}), which is stopped: let it go on (kill -CONT {}), or end it (kill -9 {})", process,
        command, process, process);
  }
  return fmt::format("process {} ({}): wait until it has ended, or stop it (kill {})", process, command,
                     process);
}

/// Whether all files of the folder have a property; the lock does not count.
template <typename Property>
bool all_files(const std::string& folder, const Property& property) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != kLockName && !(entry.is_regular_file() && property(name))) return false;
  }
  return true;
}

}  // namespace

RunLock::RunLock(std::string folder, const std::vector<std::string>& command)
    : folder_(std::move(folder)),
      made_folder_(made(folder_)),
      lock_(lock_file(folder_), FileLock::Wait::never) {
  if (lock_.busy()) invalid(fmt::format("{} is in use by {}", folder_, holder(folder_)));
  lock_.set_text(holder_text(command));
}

RunLock::~RunLock() {
  if (!made_folder_ || !lock_.in_place()) return;
  std::error_code ignored;
  lock_.release();
  fs::remove(folder_, ignored);  // which fails where there is something in it
}

bool RunLock::folder_is_empty() const {
  return all_files(folder_, [](const std::string&) { return false; });
}

void RunLock::clear_folder() const {
  const RunFolder run{folder_};
  std::error_code ignored;
  fs::remove(run.config(), ignored);  // first: what is left is not a run
  for (const char* name : kFirstFiles) fs::remove(folder_ + "/" + name, ignored);
  run.remove_leftovers();
}

bool RunLock::free_for_new_run(const std::string& folder) {
  if (!fs::exists(folder)) return true;
  if (!fs::is_directory(folder)) return false;
  if (!fs::exists(lock_file(folder))) return fs::is_empty(folder);
  const RunLock lock(folder, {});
  if (all_files(folder, is_first_file)) lock.clear_folder();
  return lock.folder_is_empty();
}

}  // namespace synthesizer
