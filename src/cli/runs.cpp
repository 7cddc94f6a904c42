// synth runs: lists the runs in a folder.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/print.h"
#include "run/run_record.h"

namespace synthesizer::cli {
namespace {

namespace fs = std::filesystem;

/// A run of the list, or what is wrong with it.
struct ListedRun {
  std::string name;  ///< its folder, seen from where the list begins
  RunRecord record;
  std::string damage;

  std::string state() const {
    if (!damage.empty()) return "damaged";
    if (record.provenance.made_from && record.reached() == 0)
      return "made by " + record.provenance.made_from->by;
    return record.finished() ? "finished" : "unfinished";
  }
};

/// Folders with a config.toml. What is inside a run is not looked at.
std::vector<std::string> run_folders(const std::string& top) {
  if (!fs::is_directory(top))
    invalid(fmt::format("{} is not a folder: name a folder that contains runs", top));
  if (fs::exists(fs::path(top) / "config.toml")) return {top};
  std::vector<std::string> found;
  const auto quietly = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(top, quietly); entry != fs::end(entry); ++entry) {
    std::error_code ignored;
    if (!entry->is_directory(ignored) || !fs::exists(entry->path() / "config.toml", ignored)) continue;
    found.push_back(entry->path().string());
    entry.disable_recursion_pending();
  }
  std::sort(found.begin(), found.end());
  return found;
}

ListedRun listed(const std::string& top, const std::string& folder) {
  ListedRun run;
  run.name = folder == top ? folder : fs::path(folder).lexically_relative(top).string();
  try {
    run.record = read_run(folder);
  } catch (const InvalidInput& damaged) {
    run.damage = damaged.what();
  }
  return run;
}

/// The watched score of the best validation: its key and value.
std::pair<std::string, double> best_score(const RunRecord& record, const Measurement& best) {
  const std::string watched = setting(record.settings, "train.watch");
  const std::string key = watched.empty() ? "loss" : watched;
  return {key, best.value(key).value_or(0)};
}

std::string best_text(const RunRecord& record) {
  const Measurement* best = record.best();
  if (!best) return "";
  const auto [key, value] = best_score(record, *best);
  return fmt::format("{} {:.4g} at {}", key, value, with_thousands(best->step));
}

void print_run_table(const std::vector<ListedRun>& runs) {
  TextTable table({"run", "task", "attention", "state", "best on dev", "parameters", "steps", "time"});
  for (const ListedRun& run : runs) {
    const RunRecord& r = run.record;
    if (!run.damage.empty()) {
      table.add({run.name, "", "", run.state(), "", "", "", ""});
      print_note("synth: {}\n", run.damage);
      continue;
    }
    int64_t wanted = 0;
    parse_number(setting(r.settings, "train.steps"), wanted);
    table.add({run.name, r.task(), r.attention(), run.state(), best_text(r),
               r.parameters ? with_thousands(r.parameters->total) : "",
               fmt::format("{}/{}", with_thousands(r.reached()), with_thousands(wanted)),
               duration(r.seconds())});
  }
  table.print(5);
}

nlohmann::ordered_json run_object(const ListedRun& run) {
  if (!run.damage.empty()) return {{"run", run.name}, {"state", run.state()}, {"error", run.damage}};
  const RunRecord& r = run.record;
  nlohmann::ordered_json object = {{"run", run.name},
                                   {"path", r.path},
                                   {"state", run.state()},
                                   {"task", r.task()},
                                   {"attention", r.attention()},
                                   {"steps", r.reached()},
                                   {"seconds", r.seconds()},
                                   {"started", r.provenance.started}};
  if (r.parameters) object["parameters"] = r.parameters->total;
  if (const Measurement* best = r.best()) {
    const auto [key, value] = best_score(r, *best);
    object["best"] = {{"step", best->step}, {"score", key}, {"value", value}};
  }
  return object;
}

void list_runs(const std::string& top, bool json) {
  std::vector<ListedRun> runs;
  for (const std::string& folder : run_folders(top)) runs.push_back(listed(top, folder));
  if (json) {
    auto list = nlohmann::ordered_json::array();
    for (const ListedRun& run : runs) list.push_back(run_object(run));
    return print_out("{}\n", nlohmann::ordered_json{{"runs", list}}.dump(
                                 2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  if (runs.empty()) return print_note("there are no runs in {}\n", top);
  print_run_table(runs);
}

}  // namespace

void add_runs(CLI::App& program) {
  auto* command = program.add_subcommand("runs", "list the runs in a folder");
  auto top = std::make_shared<std::string>("runs");
  auto json = std::make_shared<bool>(false);
  command->add_option("DIR", *top, "folder to search, with its subfolders")->capture_default_str();
  command->add_flag("--json", *json, "print a JSON object");
  command->callback([=] { list_runs(*top, *json); });
}

}  // namespace synthesizer::cli
