#include "runtime/threads.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/error.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

void lower(std::optional<double>& limit, double cores) {
  if (cores > 0) limit = std::min(limit.value_or(cores), cores);
}

/// cpu.max of version 2: "200000 100000" or "max 100000".
void apply_version_2(const fs::path& folder, std::optional<double>& limit) {
  double quota = 0, period = 0;
  if (std::ifstream(folder / "cpu.max") >> quota >> period && period > 0) lower(limit, quota / period);
}

/// Two files of version 1; a quota of -1 is no limit.
void apply_version_1(const fs::path& folder, std::optional<double>& limit) {
  double quota = 0, period = 0;
  if (std::ifstream(folder / "cpu.cfs_quota_us") >> quota &&
      std::ifstream(folder / "cpu.cfs_period_us") >> period && period > 0) {
    lower(limit, quota / period);
  }
}

/// A group's limit holds for the groups inside it: all folders from the group's up to the mount point. In a
/// container the path may belong to the host's tree and not exist here; the mount point then is the group.
template <typename Apply>
void apply_upwards(const fs::path& mount, const std::string& group, Apply apply,
                   std::optional<double>& limit) {
  for (fs::path path = group; path.has_relative_path(); path = path.parent_path())
    apply(mount / path.relative_path(), limit);
  apply(mount, limit);
}

}  // namespace

void release_team() {
  omp_pause_resource_all(omp_pause_soft);
}

std::optional<double> control_group_cores(const fs::path& membership, const fs::path& mount) {
  std::optional<double> limit;
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      apply_upwards(mount, group, apply_version_2, limit);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      apply_upwards(mount / controllers, group, apply_version_1, limit);
    }
  }
  return limit;
}

int64_t usable_cores() {
  static const int64_t count = [] {  // LibTorch's count is its default only until somebody sets it
    const int64_t cores = at::get_num_threads();
    const auto limit = control_group_cores("/proc/self/cgroup", "/sys/fs/cgroup");
    return limit ? std::clamp<int64_t>(std::llround(std::ceil(*limit)), 1, cores) : cores;
  }();
  return count;
}

void use_threads(int64_t count) {
  if (count < 1 || count > kMaxThreads)
    invalid(fmt::format("{} threads: give a number from 1 to {}", count, kMaxThreads));
  usable_cores();
  at::set_num_threads(static_cast<int>(count));
}

}  // namespace synthesizer
