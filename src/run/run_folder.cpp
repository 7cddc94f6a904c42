#include "run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/folders.h"
#include "run/settings.h"

namespace synthesizer {
namespace {

constexpr std::string_view kPrefix = "step-", kSuffix = ".safetensors";

/// The steps that a folder has checkpoints of, in order; none, with the reason, where it cannot be read.
std::vector<int64_t> steps_in(const std::string& folder, std::error_code& error) {
  std::vector<int64_t> steps;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    const char *begin = name.data() + kPrefix.size(), *end = name.data() + name.size() - kSuffix.size();
    int64_t step = 0;
    const auto parsed = std::from_chars(begin, end, step);
    if (parsed.ec == std::errc() && parsed.ptr == end) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

}  // namespace

std::string RunFolder::weights(const std::string& name) const {
  if (name == "best") return model();
  if (name == "last") return state();
  return name == "averaged" ? averaged() : name;
}

std::string RunFolder::checkpoint(int64_t step) const {
  return fmt::format("{}/{}{:08}{}", checkpoints(), kPrefix, step, kSuffix);
}

void RunFolder::check_is_run() const {
  if (!std::filesystem::is_directory(path))
    invalid(fmt::format("{} is not a run folder: there is no such folder", path));
  if (!std::filesystem::exists(config()))
    invalid(fmt::format("{} is not a run folder: it has no config.toml (synth train makes one)", path));
  if (setting(read_settings(config()), "task").empty()) {
    invalid(fmt::format("{} has no task: it is empty or damaged; put the run's own file back, or train again",
                        config()));
  }
}

std::vector<int64_t> RunFolder::checkpoint_steps() const {
  std::error_code error;
  auto steps = steps_in(checkpoints(), error);
  if (error && error != std::errc::no_such_file_or_directory) cannot_read(checkpoints(), error.value());
  return steps;
}

void RunFolder::remove_leftovers() const {
  std::error_code ignored;
  for (const std::string& folder : {path, checkpoints()}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      if (is_temporary(entry.path().filename().string())) std::filesystem::remove(entry.path(), ignored);
    }
  }
}

void RunFolder::prune_checkpoints(int64_t keep) const {
  std::error_code ignored;  // one that is gone already, or stays until the next time, is no harm
  auto steps = steps_in(checkpoints(), ignored);
  while (static_cast<int64_t>(steps.size()) > keep) {
    std::filesystem::remove(checkpoint(steps.front()), ignored);
    steps.erase(steps.begin());
  }
}

}  // namespace synthesizer
