// synth train: trains one run from a recipe.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/paper_parameters.h"
#include "cli/print.h"
#include "cli/process_options.h"
#include "cli/threads_option.h"
#include "compare/report.h"
#include "compare/train_planned_runs.h"
#include "task/dry_run.h"
#include "task/training.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string recipe, run, init_from;
  std::vector<std::string> changes;
  bool resume = false, accept_changed_data = false, explain = false, dry_run = false;
  ProcessOptions processes;
};

/// The recipe's file: the one that was given, or that of the run to start from.
std::string recipe_file(const TrainArguments& a) {
  if (!a.recipe.empty() || a.init_from.empty() || a.resume) return a.recipe;
  const RunFolder first{a.init_from};
  if (!fs::exists(first.config()))
    invalid(fmt::format("--init-from {}: it is not a run folder (it has no config.toml)", a.init_from));
  return first.config();
}

Recipe recipe_of(const TrainArguments& a) {
  if (const std::string file = recipe_file(a); !file.empty()) {
    Recipe recipe = load_recipe(file, a.changes);
    if (!a.init_from.empty()) recipe.train.init_from = fs::absolute(a.init_from).lexically_normal().string();
    return recipe;
  }
  if (!a.resume)
    invalid("synth train needs a recipe (recipes/ has examples; synth train --explain lists the keys)");
  const RunFolder folder{a.run};
  if (!fs::exists(folder.config()))
    invalid(fmt::format("{} is not a run folder: there is nothing to resume", a.run));
  return load_recipe(folder.config(), a.changes);
}

/// What the paper has, below our count of parameters.
std::string paper_line(const TrainArguments& a, const Recipe& recipe) {
  const std::string paper = paper_parameters(recipe_file(a), recipe);
  return paper.empty() ? "" : fmt::format("  {:<6} {}\n", "paper", paper);
}

void print_outcome(const TrainArguments& a, const Outcome& outcome) {
  const TrainerState& s = outcome.state;
  const char* how = outcome.end == Outcome::End::patience ? "stopped without improvement on dev" : "done";
  std::string line = fmt::format("{} after {} steps in {}", how, with_thousands(s.step), duration(s.seconds));
  if (s.best_step > 0) line += fmt::format("; best at step {}: {:.4f}", with_thousands(s.best_step), s.best);
  print_note("{}\n", line);
  print_out("{}\n", a.run);
}

void print_dry_run(const TrainArguments& a) {
  const Recipe recipe = recipe_of(a);
  check_options_used(recipe);
  const DryRun found = dry_run(recipe);
  print_out("{}{}\n", found.summary, paper_line(a, recipe));
  print_out("  {:<6} {:.3g} s, median of {}; {} {}/s\n", "step", found.seconds_per_step, found.measured_steps,
            with_thousands(static_cast<int64_t>(found.tokens_per_second)), found.unit);
  print_out("  {:<6} {} so far, LibTorch included\n", "peak", byte_text(found.peak_memory_bytes));
  print_out("  {:<6} {} for {} steps, without validations\n", "time", duration(found.seconds),
            with_thousands(recipe.train.steps));
}

/// What goes on with a run that was stopped, whose folder has its settings. `processes`: that trained it.
std::string how_to_go_on(const TrainArguments& a, int64_t processes) {
  const bool started_here = a.processes.processes > 1;
  if (processes > 1 && !started_here)
    return fmt::format("start all {} processes again with the same command and --resume", processes);
  const std::string words = fmt::format("continue with: synth train --run {} --resume", shell_quoted(a.run));
  return started_here ? fmt::format("{} --processes {}", words, processes) : words;
}

/// What rank 0 does when the training is over. Returns the status to end with. `go_on`: as how_to_go_on.
int finish(const TrainArguments& a, const Outcome& outcome, int64_t rank, const std::string& go_on) {
  const bool stopped = outcome.end == Outcome::End::stopped;
  if (rank > 0) return stopped ? 1 : 0;
  if (stopped)
    throw std::runtime_error(fmt::format("stopped at step {}, saved; {}", outcome.state.step, go_on));
  write_run_report(a.run);
  print_outcome(a, outcome);
  return 0;
}

void train(const TrainArguments& a, const std::vector<std::string>& command) {
  if (a.explain) return print_out("{}", explain_recipe());
  if (a.dry_run) {
    if (a.processes.processes != 1) invalid("--dry-run measures one process: remove --processes");
    return print_dry_run(a);
  }
  if (a.run.empty()) invalid("synth train needs --run DIR, the folder of the new run");
  if (a.accept_changed_data && !a.resume) invalid("--accept-changed-data needs --resume");
  if (a.resume && !a.init_from.empty())
    invalid("--init-from and --resume exclude each other: a resumed run has its own weights");
  TrainingOptions options;
  options.folder = a.run;
  options.resume = a.resume;
  options.accept_changed_data = a.accept_changed_data;
  options.command = command;
  options.say = [](const std::string& text) { print_note("{}\n", text); };
  const Recipe recipe = recipe_of(a);
  if (!a.resume) check_options_used(recipe);
  options.note = paper_line(a, recipe);
  Outcome outcome;
  std::string go_on;
  const int status = run_processes(
      a.processes,
      [&](ProcessGroup* group) {
        options.group = group;
        go_on = how_to_go_on(a, size_of(group));
        outcome = train_run(recipe, options);
      },
      [&](int64_t rank) { return finish(a, outcome, rank, go_on); });
  if (status != 0) throw TrainingFailed(status);
}

}  // namespace

void add_train(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("train", "train a model from a recipe");
  auto a = std::make_shared<TrainArguments>();
  command->add_option(
      "RECIPE", a->recipe,
      "a recipe (TOML file); not needed with --resume or --init-from, which read the run's own");
  command->add_option("--run", a->run, "folder of the run")->type_name("DIR");
  command->add_option("--set", a->changes, "change a key of the recipe, as in --set train.steps=100")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--init-from", a->init_from,
                   "start from this run's weights and tokenizer, and from its recipe if none is given")
      ->type_name("RUN");
  command->add_flag("--resume", a->resume,
                    "continue a stopped run; the result has the same bits as without the stop");
  command->add_flag("--accept-changed-data", a->accept_changed_data,
                    "resume although the data have changed; run.json records both hashes");
  command->add_flag("--dry-run", a->dry_run,
                    "estimate parameters, data, memory and time from a few steps; make no run");
  add_process_options(*command, a->processes);
  command->add_flag("--explain", a->explain, "list every recipe key with its default");
  command->callback([a, command, command_line] {
    a->changes = with_threads(*command, a->changes);
    train(*a, command_line);
  });
}

}  // namespace synthesizer::cli
