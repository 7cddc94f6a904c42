// synth compare: several attentions side by side, trained for it or taken as they are.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/threads_option.h"
#include "compare/comparison_table.h"
#include "compare/report.h"
#include "compare/train_members.h"
#include "report/page.h"
#include "report/table_data.h"
#include "report/table_text.h"
#include "runtime/core_sharing.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

struct CompareArguments {
  std::vector<std::string> what;
  std::string attention, folder, weights = "best", text, format = "terminal";
  std::vector<std::string> changes, data;
  int64_t seeds = 1;
  bool json = false;
  const CLI::App* command = nullptr;  ///< has --threads
};

/// Trains what has to be, and says which runs there are then.
std::vector<std::string> runs_of(const CompareArguments& a) {
  const bool recipe = a.what.size() == 1 && !fs::is_directory(a.what[0]);
  if (!recipe) {
    if (!a.attention.empty() || !a.changes.empty() || a.seeds != 1)
      invalid("--attention, --set and --seeds are for a recipe; these are runs, trained already");
    return a.what;
  }
  if (a.attention.empty())
    invalid(fmt::format("which attentions of {}? For example --attention V,D,R,R+V", a.what[0]));
  const auto members =
      members_of(a.what[0], with_threads(*a.command, a.changes), a.attention, a.seeds, a.folder);
  train_members(a.what[0], members);
  std::vector<std::string> folders;
  for (const Member& member : members) folders.push_back(member.folder);
  return folders;
}

std::string as_text(const Table& table, const std::string& format) {
  if (format == "markdown") return markdown_table(table);
  if (format == "csv") return csv_table(table);
  if (format == "latex") return latex_table(table);
  if (format == "json") return json_table(table).dump(2) + "\n";
  return terminal_table(table, isatty(STDOUT_FILENO) != 0);
}

void compare(const CompareArguments& a, const std::string& command) {
  const auto runs = runs_of(a);
  share_cores();  // not earlier: training forks
  const Comparison comparison = compare_runs(runs, a.weights, a.data);
  const ScoreCells cells = score_cells(comparison);
  const Table table = comparison_table(comparison, cells);
  fs::create_directories(a.folder);
  const std::pair<const char*, const char*> forms[] = {
      {"table.md", "markdown"}, {"table.csv", "csv"}, {"table.tex", "latex"}, {"table.json", "json"}};
  for (const auto& [file, format] : forms) write_file(a.folder + "/" + file, as_text(table, format));
  const std::string path = a.folder + "/report.html";
  write_file(path, page(comparison_report(comparison, cells, a.weights, a.text, command)));
  fmt::print("{}", as_text(table, a.json ? "json" : a.format));
  fmt::print(stderr, "\n{} (beside it table.md, .csv, .tex, .json)\n", path);
}

}  // namespace

void add_compare(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("compare", "several attentions side by side, as a table and a page");
  auto a = std::make_shared<CompareArguments>();
  a->command = command;
  command->add_option("RECIPE-OR-RUNS", a->what, "a recipe to train, or folders of runs")->required();
  command->add_option("--attention", a->attention,
                      "of a recipe: which to train, V,D,R,R+V; the first is the base");
  command->add_option("--run", a->folder, "folder of the table, the page and the runs that are trained")
      ->default_val("comparison");
  command->add_option("--set", a->changes, "KEY=VALUE over the recipe, for all of them");
  command->add_option("--seeds", a->seeds,
                      "of a recipe: so many runs of each, with seeds that follow its own");
  command->add_option("--data", a->data,
                      "what to score: train, dev or test, or files (default: test, else dev)");
  command->add_option("--text", a->text, "what attentions are looked at with (default: lines of dev)");
  add_weights_option(*command, a->weights);
  command->add_option("--format", a->format, "of what is printed")
      ->check(CLI::IsMember({"terminal", "markdown", "csv", "latex", "json"}));
  command->add_flag("--json", a->json, "the same as --format json");
  std::string typed;
  for (size_t i = 0; i < command_line.size(); ++i) typed += i == 0 ? "synth" : " " + command_line[i];
  command->callback([a, typed] { compare(*a, typed); });
}

}  // namespace synthesizer::cli
