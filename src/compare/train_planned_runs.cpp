#include "compare/train_planned_runs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/output.h"
#include "compare/report.h"
#include "run/run_folder.h"
#include "runtime/child_processes.h"
#include "task/training.h"

namespace synthesizer {
namespace {

/// Returns the status to end with.
int train(const std::string& recipe, const PlannedRun& run, bool resume, const std::string& title,
          const ProcessOptions& processes) {
  TrainingOptions options;
  options.folder = run.folder;
  options.resume = resume;
  options.title = title;
  options.command = {"synth", "train", recipe, "--run", run.folder};
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
  return run_processes(processes, work, [&](int64_t rank) {
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

/// In the child errors go the way of all errors, up to main.
void train_in_child(const std::string& recipe, const PlannedRun& run, bool resume, const std::string& title,
                    const ProcessOptions& processes) {
  ChildProcesses children;
  children.start([&] { return train(recipe, run, resume, title, processes); });
  children.wait();
  const ChildOutcome ended = *children.outcome(0);
  if (ended.killed_by != 0) {
    throw std::runtime_error(
        fmt::format("the training of {} was killed by signal {}; the same command goes on "
                    "from its last checkpoint",
                    run.attention, ended.killed_by));
  }
  if (ended.exit_status != 0) throw TrainingFailed(ended.exit_status);
  if (children.stop_signal() != 0) {  // it came when there was nothing left to stop
    throw std::runtime_error(
        fmt::format("stopped after the training of {}; the same command goes on from there", run.attention));
  }
}

}  // namespace

void train_planned_runs(const std::string& recipe, const std::vector<PlannedRun>& runs,
                        const ProcessOptions& processes) {
  std::vector<PlannedRun::State> states;  // all of them first: nothing is trained beside a folder in the way
  for (const PlannedRun& run : runs) states.push_back(run.state());
  for (size_t i = 0; i < runs.size(); ++i) {
    const PlannedRun& run = runs[i];
    const std::string title = fmt::format("{}/{} {}", i + 1, runs.size(), run.attention);
    if (states[i] == PlannedRun::State::finished) {
      write_note(fmt::format("{}: finished before\n", title));
      continue;
    }
    const bool resume = states[i] == PlannedRun::State::interrupted;
    // What a kill before the first checkpoint has left is a run, but cannot be taken up.
    if (!resume && std::filesystem::exists(RunFolder{run.folder}.config()))
      std::filesystem::remove_all(run.folder);
    write_note(fmt::format("{}: {}\n", title, resume ? "goes on" : run.folder));
    train_in_child(recipe, run, resume, title, processes);
  }
}

}  // namespace synthesizer
