#include "compare/train_planned_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/output.h"
#include "compare/report.h"
#include "run/run_folder.h"
#include "run/run_lock.h"
#include "runtime/child_error.h"
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

/// A training that was started. Its number is that of its child process.
struct StartedRun {
  const PlannedRun* run;
  std::optional<ChildError> error;  ///< none where it has ended well: it takes a file descriptor
};

/// In the child. Returns the status to end with.
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
    if (stopped)
      throw std::runtime_error(
          fmt::format("{} stopped at step {}, saved", run.attention, outcome.state.step));
    write_run_report(run.folder);
    return 0;
  });
}

/// In the child. Errors are for the parent to report, together; where there is no memory left, main() does
/// it.
int train_and_say(const ChildError& error, const std::function<int()>& training) {
  try {
    return training();
  } catch (const InvalidInput& mistake) {
    error.say(mistake.what());
    return 2;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    error.say(failure.what());
    return 1;
  }
}

/// Why a training failed; empty where it has said so on standard error.
std::string reason_of(const StartedRun& started, const ChildOutcome& outcome) {
  const std::string& attention = started.run->attention;
  if (outcome.killed_by != 0)
    return fmt::format("the training of {} was killed by signal {}", attention, outcome.killed_by);
  const std::string said = started.error->said();
  if (!said.empty()) return said.substr(0, said.find('\n'));
  if (ChildProcesses::stop_signal() == 0) return "";
  return fmt::format("the training of {} was stopped at once", attention);
}

/// Throws one error for all trainings that failed.
void check_outcomes(const ChildProcesses& children, const std::vector<StartedRun>& started) {
  bool killed = false;
  int status = 0;
  std::vector<std::string> reasons;
  for (size_t child = 0; child < started.size(); ++child) {
    const ChildOutcome& outcome = *children.outcome(child);
    if (!outcome.failed()) continue;
    killed |= outcome.killed_by != 0;
    status = std::max({status, outcome.exit_status, 1});
    const std::string reason = reason_of(started[child], outcome);
    if (!reason.empty() && std::count(reasons.begin(), reasons.end(), reason) == 0) reasons.push_back(reason);
  }
  const bool stopped = ChildProcesses::stop_signal() != 0;
  if (status > 0 && reasons.empty()) throw TrainingFailed(status);
  if (status == 0 && stopped)  // the signal came when there was nothing left to stop
    reasons.push_back(fmt::format("stopped after the training of {}", started.back().run->attention));
  if (reasons.empty()) return;
  if (stopped || killed) reasons.emplace_back("the same command goes on from the last checkpoint");
  const std::string message = fmt::format("{}", fmt::join(reasons, "; "));
  if (status == 2) invalid(message);
  throw std::runtime_error(message);
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
  std::vector<StartedRun> started;
  int64_t running = 0;
  bool failed = false;
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
      started.push_back({&run, ChildError()});
      const ChildError& error = *started.back().error;
      children.start([&] { return train_and_say(error, [&] { return train(plan, run, resume, title); }); });
      ++running;
    }
    if (running == 0) break;
    const size_t ended = *children.wait();
    --running;
    if (!children.outcome(ended)->failed()) {
      started[ended].error.reset();
      continue;
    }
    if (!failed && running > 0 && children.stop_signal() == 0)
      write_note(fmt::format("{} has failed; what trains beside it is finished first\n",
                             started[ended].run->attention));
    failed = true;
  }
  check_outcomes(children, started);
}

}  // namespace synthesizer
