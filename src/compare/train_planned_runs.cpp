#include "compare/train_planned_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/output.h"
#include "compare/report.h"
#include "run/run_folder.h"
#include "run/run_lock.h"
#include "runtime/child_processes.h"
#include "task/training.h"

namespace synthesizer {
namespace {

/// Of a comparison: what all its trainings have in common.
struct TrainingPlan {
  std::string recipe;
  int64_t jobs;  ///< at a time
  ProcessOptions processes;
};

/// Returns the status to end with.
int train(const TrainingPlan& plan, const PlannedRun& run, bool resume, const std::string& title) {
  TrainingOptions options;
  options.folder = run.folder;
  options.resume = resume;
  options.title = title;
  options.side_by_side = plan.jobs;
  options.command = {"synth", "train", plan.recipe, "--run", run.folder};
  for (const std::string& change : run.changes) {
    options.command.push_back("--set");
    options.command.push_back(change);
  }
  options.say = [](const std::string&) {};  // the same for all of them, and long
  Outcome outcome;
  auto work = [&](ProcessGroup* group) {
    options.group = group;
    outcome = train_run(run.recipe, options);
  };
  return run_processes(plan.processes, work, [&](int64_t rank) {
    const bool stopped = outcome.end == Outcome::End::stopped;
    if (rank > 0) return stopped ? 1 : 0;
    if (stopped) {
      throw std::runtime_error(
          fmt::format("{} stopped at step {}, saved; the same command goes on from there", run.attention,
                      outcome.state.step));
    }
    write_run_report(run.folder);
    return 0;
  });
}

/// Makes the folder ready, and says so; whether the run is to be resumed.
bool begin(const PlannedRun& run, PlannedRun::State state, const std::string& title) {
  const bool resume = state == PlannedRun::State::interrupted;
  // What a kill before the first checkpoint has left is a run, but cannot be taken up.
  if (!resume && std::filesystem::exists(RunFolder{run.folder}.config())) {
    const RunLock nobody_else(run.folder, {"synth", "compare"});
    std::filesystem::remove_all(run.folder);
  }
  write_note(fmt::format("{}: {}\n", title, resume ? "goes on" : run.folder));
  return resume;
}

/// Does what a kill after the last checkpoint of a run has left undone.
void complete(const PlannedRun& run) {
  const RunLock nobody_else(run.folder, {"synth", "compare"});
  const RunFolder folder{run.folder};
  folder.remove_leftovers();
  if (!std::filesystem::exists(folder.report())) write_run_report(run.folder);
}

}  // namespace

void train_planned_runs(const std::string& recipe, const std::vector<PlannedRun>& runs, int64_t jobs,
                        const ProcessOptions& processes) {
  std::vector<PlannedRun::State> states;  // all of them first: nothing is trained beside a folder in the way
  for (const PlannedRun& run : runs) states.push_back(run.state());
  const auto missing = std::count_if(states.begin(), states.end(), [](PlannedRun::State state) {
    return state != PlannedRun::State::finished;
  });
  const TrainingPlan plan{recipe, std::min<int64_t>(jobs, missing), processes};

  ChildProcesses children;
  std::vector<const PlannedRun*> started;  // by the child's number
  int64_t running = 0;
  std::optional<size_t> failed;  // the first that did
  for (size_t next = 0;;) {
    for (; next < runs.size() && !failed && children.stop_signal() == 0; ++next) {
      const PlannedRun& run = runs[next];
      const std::string title = fmt::format("{}/{} {}", next + 1, runs.size(), run.attention);
      if (states[next] == PlannedRun::State::finished) {
        complete(run);
        write_note(fmt::format("{}: finished before\n", title));
        continue;
      }
      if (running == plan.jobs) break;
      const bool resume = begin(run, states[next], title);
      // In the child errors go the way of all errors, up to main.
      children.start([&] { return train(plan, run, resume, title); });
      started.push_back(&run);
      ++running;
    }
    if (running == 0) break;
    const size_t ended = *children.wait();
    --running;
    if (!failed && children.outcome(ended)->failed()) failed = ended;
  }

  if (failed) {
    const ChildOutcome outcome = *children.outcome(*failed);
    if (outcome.killed_by == 0) throw TrainingFailed(outcome.exit_status);
    throw std::runtime_error(
        fmt::format("the training of {} was killed by signal {}; the same command goes on from its last "
                    "checkpoint",
                    started[*failed]->attention, outcome.killed_by));
  }
  if (children.stop_signal() != 0) {  // it came when there was nothing left to stop
    throw std::runtime_error(fmt::format(
        "stopped after the training of {}; the same command goes on from there", started.back()->attention));
  }
}

}  // namespace synthesizer
