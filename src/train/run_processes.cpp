#include "train/run_processes.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/range.h"
#include "base/version.h"
#include "runtime/core_sharing.h"
#include "runtime/launch.h"
#include "runtime/threads.h"

namespace synthesizer {
namespace {

constexpr int64_t kMostProcesses = 1024;

void work_in_group(const ProcessPlace& place, const std::function<void(ProcessGroup*)>& work) {
  const auto group =
      join_processes(place, fmt::format("synth {} {}, LibTorch {}", version(), commit(), TORCH_VERSION));
  try {
    work(group.get());
    group->close();
  } catch (const std::exception& failure) {
    group->fail(failure);
    throw;
  }
}

}  // namespace

int64_t threads_of_process(const ProcessGroup* group, int64_t side_by_side) {
  if (std::getenv("OMP_NUM_THREADS")) return usable_cores();  // the user's number is a process's
  const int64_t here = group ? std::max<int64_t>(1, group->place().local_size) : 1;
  return std::max<int64_t>(1, usable_cores() / (side_by_side * here));
}

void check(const ProcessOptions& options) {
  check_between("--processes", options.processes, 1, kMostProcesses);
  if (!(options.timeout >= 1 && std::isfinite(options.timeout)))
    invalid(fmt::format("--timeout is {}: it must be at least 1 second", options.timeout));
  if (options.processes > 1 && place_from_environment())
    invalid(
        "--processes starts processes, and WORLD_SIZE says that this is one of several already: leave one "
        "out");
}

int run_processes(const ProcessOptions& options, const std::function<void(ProcessGroup*)>& work,
                  const std::function<int(int64_t rank)>& finish) {
  check(options);
  if (options.processes > 1) {
    return launch(options.processes, [&](const LaunchedProcess& own) {
      share_cores();
      ProcessPlace place;
      place.rank = own.rank;
      place.size = place.local_size = own.size;
      place.port = own.port;
      place.listener = own.listener;
      place.timeout = options.timeout;
      work_in_group(place, work);
      return finish(place.rank);
    });
  }
  share_cores();
  auto place = place_from_environment();
  if (!place) {
    work(nullptr);
    return finish(0);
  }
  place->timeout = options.timeout;
  work_in_group(*place, work);
  return finish(place->rank);
}

}  // namespace synthesizer
