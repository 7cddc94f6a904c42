// synth train: one run, from a recipe.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/threads_option.h"
#include "compare/report.h"
#include "task/training.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

struct TrainArguments {
  std::string recipe, run, init_from;
  std::vector<std::string> changes;
  bool resume = false, explain = false;
};

/// The recipe's file: the one that was given, or that of the run to start from.
std::string recipe_file(const TrainArguments& a) {
  if (!a.recipe.empty() || a.init_from.empty() || a.resume) return a.recipe;
  const RunFolder first{a.init_from};
  if (!fs::exists(first.config()))
    invalid(fmt::format("--init-from {}: it is no run (it has no config.toml)", a.init_from));
  return first.config();
}

Recipe recipe_of(const TrainArguments& a) {
  if (const std::string file = recipe_file(a); !file.empty()) {
    Recipe recipe = load_recipe(file, a.changes);
    if (!a.init_from.empty()) recipe.train.init_from = fs::absolute(a.init_from).lexically_normal().string();
    return recipe;
  }
  if (!a.resume)
    invalid("synth train needs a recipe (recipes/ has some; synth train --explain lists the keys)");
  const RunFolder folder{a.run};
  if (!fs::exists(folder.config())) invalid(fmt::format("{} is no run: there is nothing to resume", a.run));
  return load_recipe(folder.config(), a.changes);
}

void print_outcome(const TrainArguments& a, const Outcome& outcome) {
  const TrainerState& s = outcome.state;
  const char* how = outcome.end == Outcome::End::patience ? "stopped, as dev gets no better," : "done";
  std::string line = fmt::format("{} after {} steps in {}", how, with_thousands(s.step), duration(s.seconds));
  if (s.best_step > 0) line += fmt::format("; best at step {}: {:.4f}", with_thousands(s.best_step), s.best);
  fmt::print(stderr, "{}\n", line);
  fmt::print("{}\n", a.run);
}

void train(const TrainArguments& a, const std::vector<std::string>& command) {
  if (a.explain) return fmt::print("{}", explain_recipe());
  if (a.run.empty()) invalid("synth train needs --run DIR, the folder to make");
  TrainingOptions options;
  options.folder = a.run;
  options.resume = a.resume;
  options.command = command;
  options.say = [](const std::string& text) { fmt::print(stderr, "{}\n", text); };
  const Outcome outcome = train_run(recipe_of(a), options);
  if (outcome.end == Outcome::End::stopped) {
    throw std::runtime_error(fmt::format(
        "stopped at step {}, saved; go on with: synth train --run {} --resume", outcome.state.step, a.run));
  }
  write_run_report(a.run);
  print_outcome(a, outcome);
}

}  // namespace

void add_train(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("train", "train a model from a recipe");
  auto a = std::make_shared<TrainArguments>();
  command->add_option("RECIPE", a->recipe, "a TOML file; with --resume the run's own may be left out");
  command->add_option("--run", a->run, "the folder of the run")->type_name("DIR");
  command->add_option("--set", a->changes, "change a key of the recipe, as in --set train.steps=100")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--init-from", a->init_from,
                   "start from that run's weights and tokenizer; its recipe too, where none is given")
      ->type_name("RUN");
  command->add_flag("--resume", a->resume, "go on with a run that was stopped, bit for bit");
  command->add_flag("--explain", a->explain, "list every key with its default");
  command->callback([a, command, command_line] {
    a->changes = with_threads(*command, a->changes);
    train(*a, command_line);
  });
}

}  // namespace synthesizer::cli
