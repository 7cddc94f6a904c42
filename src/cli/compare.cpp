// synth compare: several attention variants side by side, trained for it or taken as they are.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/shell_quote.h"
#include "cli/choice_option.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "cli/process_options.h"
#include "cli/threads_option.h"
#include "compare/comparison_table.h"
#include "compare/report.h"
#include "compare/train_planned_runs.h"
#include "report/page.h"
#include "report/table_data.h"
#include "report/table_text.h"
#include "run/run_lock.h"
#include "runtime/core_sharing.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

/// Of the table that is printed.
enum class TableForm { terminal, markdown, csv, latex, json };
Choices choices(TableForm) {
  static constexpr ChoiceName names[] = {{"terminal"}, {"markdown"}, {"csv"}, {"latex"}, {"json"}};
  return names;
}

struct CompareArguments {
  std::vector<std::string> what;
  std::string attention, folder, weights = "best", text;
  TableForm form = TableForm::terminal;
  std::vector<std::string> changes, data;
  int64_t seeds = 1, jobs = 1;
  bool json = false;
  const CLI::App* command = nullptr;  ///< has --threads
  ProcessOptions processes;
};

/// Trains what has to be, and says which runs there are then.
std::vector<std::string> runs_of(const CompareArguments& a) {
  const bool recipe = a.what.size() == 1 && !fs::is_directory(a.what[0]);
  if (!recipe) {
    if (!a.attention.empty() || !a.changes.empty() || a.seeds != 1 || a.jobs != 1 ||
        a.processes.processes != 1)
      invalid(
          "--attention, --set, --seeds, --jobs and --processes are for a recipe; these are runs, trained "
          "already");
    return a.what;
  }
  if (a.attention.empty())
    invalid(fmt::format("which attention variants of {}? For example --attention V,D,R,R+V", a.what[0]));
  const auto planned =
      planned_runs(a.what[0], with_threads(*a.command, a.changes), a.attention, a.seeds, a.folder);
  check(a.processes);
  train_planned_runs(a.what[0], planned, a.jobs, a.processes);
  std::vector<std::string> folders;
  for (const PlannedRun& run : planned) folders.push_back(run.folder);
  return folders;
}

std::string as_text(const Table& table, TableForm form) {
  switch (form) {
    case TableForm::markdown: return markdown_table(table);
    case TableForm::csv: return csv_table(table);
    case TableForm::latex: return latex_table(table);
    case TableForm::json: return json_table(table).dump(2) + "\n";
    case TableForm::terminal: break;
  }
  return terminal_table(table, isatty(STDOUT_FILENO) != 0);
}

/// What to type to get the page again.
std::string typed_command(std::vector<std::string> command_line) {
  command_line.front() = "synth";  // however the program was found
  return shell_command(command_line);
}

void compare(const CompareArguments& a, const std::vector<std::string>& command_line) {
  const RunLock lock(a.folder, command_line);
  const auto runs = runs_of(a);
  share_cores();  // not earlier: training forks
  const Comparison comparison = compare_runs(runs, a.weights, a.data);
  const ScoreCells cells = score_cells(comparison);
  const Table table = comparison_table(comparison, cells);
  const std::pair<const char*, TableForm> forms[] = {{"table.md", TableForm::markdown},
                                                     {"table.csv", TableForm::csv},
                                                     {"table.tex", TableForm::latex},
                                                     {"table.json", TableForm::json}};
  for (const auto& [file, form] : forms) write_file(a.folder + "/" + file, as_text(table, form));
  const std::string path = a.folder + "/report.html";
  write_file(path,
             page(comparison_report(comparison, cells, a.weights, a.text, typed_command(command_line))));
  print_out("{}", as_text(table, a.json ? TableForm::json : a.form));
  print_note("\n{} (beside it table.md, .csv, .tex, .json)\n", path);
}

}  // namespace

void add_compare(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command =
      program.add_subcommand("compare", "several attention variants side by side, as a table and a page");
  auto a = std::make_shared<CompareArguments>();
  a->command = command;
  command->add_option("RECIPE-OR-RUNS", a->what, "a recipe to train, or folders of runs")->required();
  command->add_option(
      "--attention", a->attention,
      "of a recipe: the variants to train, as V,D,R,R+V; the others are compared with the first");
  command->add_option("--run", a->folder, "folder of the table, the page and the runs that are trained")
      ->default_val("comparison");
  command->add_option("--set", a->changes, "KEY=VALUE over the recipe, for all of them");
  command->add_option("--seeds", a->seeds,
                      "of a recipe: number of runs of each, with its seed and those after it (default: 1)");
  command
      ->add_option("--jobs", a->jobs,
                   "of a recipe: number of trainings at the same time, which divide the cores (default: 1)")
      ->check(at_least(1));
  add_process_options(*command, a->processes);
  command
      ->add_option("--data", a->data, "what to score: train, dev or test, or files (default: test, else dev)")
      ->check(suggested({"train", "dev", "test"}));
  command->add_option("--text", a->text,
                      "the text that attention weights are shown for (default: lines of dev)");
  add_weights_option(*command, a->weights);
  add_choice(*command, "--format", a->form, "of what is printed: ");
  command->add_flag("--json", a->json, "the same as --format json");
  command->callback([a, command_line] { compare(*a, command_line); });
}

}  // namespace synthesizer::cli
