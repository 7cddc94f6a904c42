// synth compare: compares attention variants, trained from a recipe or given as runs.

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
          "--attention, --set, --seeds, --jobs and --processes need a recipe; these runs are already "
          "trained");
    return a.what;
  }
  if (a.attention.empty())
    invalid(
        fmt::format("--attention is missing: name the variants of {} to train, such as --attention V,D,R,R+V",
                    a.what[0]));
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
  print_note("\n{} (and table.md, .csv, .tex, .json in the same folder)\n", path);
}

}  // namespace

void add_compare(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command =
      program.add_subcommand("compare", "compare attention variants, in a table and an HTML report");
  auto a = std::make_shared<CompareArguments>();
  a->command = command;
  command->add_option("RECIPE-OR-RUNS", a->what, "a recipe to train, or the folders of trained runs")
      ->required();
  command->add_option("--attention", a->attention,
                      "with a recipe: variants to train, such as V,D,R,R+V; all are compared with the first");
  command->add_option("--run", a->folder, "output folder for the table, the report and the trained runs")
      ->default_val("comparison");
  command->add_option("--set", a->changes, "change a key of the recipe, for all runs")
      ->type_name("KEY=VALUE");
  command->add_option("--seeds", a->seeds,
                      "with a recipe: number of runs per variant, with consecutive seeds (default: 1)");
  command
      ->add_option("--jobs", a->jobs,
                   "with a recipe: number of trainings that run in parallel and share the cores (default: 1)")
      ->check(at_least(1));
  add_process_options(*command, a->processes);
  command
      ->add_option("--data", a->data,
                   "what to score: train, dev, test or files (default: test if there is one, else dev)")
      ->check(suggested({"train", "dev", "test"}))
      ->type_name("SPLIT|FILE");
  command->add_option("--text", a->text, "text whose attention weights are shown (default: lines of dev)");
  add_weights_option(*command, a->weights);
  add_choice(*command, "--format", a->form, "output format: ");
  command->add_flag("--json", a->json, "same as --format json");
  command->callback([a, command_line] { compare(*a, command_line); });
}

}  // namespace synthesizer::cli
