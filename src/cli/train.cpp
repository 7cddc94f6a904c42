// synth train: one run, from a recipe.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "task/training.h"

namespace synthesizer::cli {
namespace {

struct Arguments {
  std::string recipe, run;
  std::vector<std::string> changes;
  bool resume = false, explain = false;
};

Recipe recipe_of(const Arguments& a) {
  if (!a.recipe.empty()) return load_recipe(a.recipe, a.changes);
  if (!a.resume)
    invalid("synth train needs a recipe (recipes/ has some; synth train --explain lists the keys)");
  const RunFolder folder{a.run};
  if (!std::filesystem::exists(folder.config()))
    invalid(fmt::format("{} is no run: there is nothing to resume", a.run));
  return load_recipe(folder.config(), a.changes);
}

void report(const Arguments& a, const Outcome& outcome) {
  const TrainerState& s = outcome.state;
  const char* how = outcome.end == Outcome::End::patience ? "stopped, as dev gets no better," : "done";
  std::string line = fmt::format("{} after {} steps in {}", how, with_thousands(s.step), duration(s.seconds));
  if (s.best_step > 0) line += fmt::format("; best at step {}: {:.4f}", with_thousands(s.best_step), s.best);
  fmt::print(stderr, "{}\n", line);
  fmt::print("{}\n", a.run);
}

void run(const Arguments& a, const std::vector<std::string>& command) {
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
  report(a, outcome);
}

}  // namespace

void add_train(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("train", "train a model from a recipe");
  auto a = std::make_shared<Arguments>();
  command->add_option("RECIPE", a->recipe, "a TOML file; with --resume the run's own may be left out");
  command->add_option("--run", a->run, "the folder of the run")->type_name("DIR");
  command->add_option("--set", a->changes, "change a key of the recipe, as in --set train.steps=100")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--resume", a->resume, "go on with a run that was stopped, bit for bit");
  command->add_flag("--explain", a->explain, "list every key with its default");
  command->callback([a, command_line] { run(*a, command_line); });
}

}  // namespace synthesizer::cli
