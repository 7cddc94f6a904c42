#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace synthesizer {

constexpr int64_t kMaxThreads = 1024;

/// How many cores this process may use: LibTorch's own count (physical cores, the affinity mask,
/// OMP_NUM_THREADS), and no more than the CPU limit of its control group, rounded up.
int64_t usable_cores();

/// Computes with so many threads from now on. Throws InvalidInput outside 1 … kMaxThreads.
void use_threads(int64_t count);

/// Ends the OpenMP threads that the calling thread keeps for its next parallel work, which then starts new
/// ones. For a thread that has computed something once beside others that always do: libgomp lets threads
/// that wait for each other spin, which is several times as fast as sleeping, only while all the threads that
/// it keeps in the process are no more than the cores.
void release_team();

/// The CPU limit of the control groups that a process is in, in cores; none where there is no limit. Reads
/// both versions of control groups. `membership`: /proc/self/cgroup; `mount`: /sys/fs/cgroup.
std::optional<double> control_group_cores(const std::filesystem::path& membership,
                                          const std::filesystem::path& mount);

}  // namespace synthesizer
