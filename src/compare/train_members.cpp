#include "compare/train_members.h"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "compare/report.h"
#include "runtime/core_sharing.h"
#include "task/training.h"
#include "train/run_folder.h"

namespace synthesizer {
namespace {

/// While a child trains, Ctrl-C is its business: it saves, and says so.
class LeaveSignalsToChild {
 public:
  LeaveSignalsToChild()
      : interrupt_(std::signal(SIGINT, SIG_IGN)), terminate_(std::signal(SIGTERM, SIG_IGN)) {}
  ~LeaveSignalsToChild() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGTERM, terminate_);
  }

 private:
  void (*interrupt_)(int);
  void (*terminate_)(int);
};

void train(const std::string& recipe, const Member& member, bool resume, const std::string& title) {
  TrainingOptions options;
  options.folder = member.folder;
  options.resume = resume;
  options.title = title;
  options.command = {"synth", "train", recipe, "--run", member.folder};
  for (const std::string& change : member.changes) {
    options.command.push_back("--set");
    options.command.push_back(change);
  }
  share_cores();
  options.say = [](const std::string&) {};  // the same for all of them, and long
  const Outcome outcome = train_run(member.recipe, options);
  if (outcome.end != Outcome::End::stopped) return write_run_report(member.folder);
  throw std::runtime_error(fmt::format("{} stopped at step {}, saved; the same command goes on from there",
                                       member.attention, outcome.state.step));
}

/// In the child errors go the way of all errors, up to main.
void train_in_child(const std::string& recipe, const Member& member, bool resume, const std::string& title) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing goes on writing behind the back of who starts it again
    train(recipe, member, resume, title);
    std::fflush(nullptr);
    _exit(0);
  }
  const LeaveSignalsToChild ours;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (WIFEXITED(status)) throw TrainingFailed(WEXITSTATUS(status));
  throw std::runtime_error(
      fmt::format("the training of {} was killed by signal {}; the same command goes on "
                  "from its last checkpoint",
                  member.attention, WTERMSIG(status)));
}

}  // namespace

void train_members(const std::string& recipe, const std::vector<Member>& members) {
  std::vector<Member::State> states;  // all of them first: nothing is trained beside a folder in the way
  for (const Member& member : members) states.push_back(member.state());
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    const std::string title = fmt::format("{}/{} {}", i + 1, members.size(), member.attention);
    if (states[i] == Member::State::finished) {
      fmt::print(stderr, "{}: finished before\n", title);
      continue;
    }
    const bool resume = states[i] == Member::State::interrupted;
    // What a kill before the first checkpoint has left is a run, but cannot be taken up.
    if (!resume && std::filesystem::exists(RunFolder{member.folder}.config()))
      std::filesystem::remove_all(member.folder);
    fmt::print(stderr, "{}: {}\n", title, resume ? "goes on" : member.folder);
    train_in_child(recipe, member, resume, title);
  }
}

}  // namespace synthesizer
