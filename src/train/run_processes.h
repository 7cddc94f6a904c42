#pragma once

#include <cstdint>
#include <functional>

#include "train/process_group.h"

namespace synthesizer {

struct ProcessOptions {
  int64_t processes = 1;  ///< to start on this machine; 1: none, the environment may name others
  double timeout = 60;    ///< seconds (ProcessPlace)
};

/// Throws InvalidInput where a value is out of its range, or where processes are to be started by one that is
/// itself one of several.
void check(const ProcessOptions& options);

/// Calls `work` in each of several processes: in those that it starts (runtime/launch.h), or in this one,
/// with those that the environment names (torchrun); `work` gets a null pointer where there is only this
/// process. Then `finish`, when the processes no longer wait for each other, with the rank; it returns the
/// status that the process ends with.
///
/// Returns that status, or that of the process which failed and has said why. What `work` throws is told to
/// the other processes before it is thrown on.
int run_processes(const ProcessOptions& options, const std::function<void(ProcessGroup*)>& work,
                  const std::function<int(int64_t rank)>& finish);

/// How many threads a process computes with unless it is told: the cores of the machine are shared by the
/// processes of the group that are on it, and by `side_by_side` groups. OMP_NUM_THREADS is a process's own.
int64_t threads_of_process(const ProcessGroup* group, int64_t side_by_side = 1);

}  // namespace synthesizer
