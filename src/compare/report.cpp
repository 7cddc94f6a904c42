#include "compare/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "base/file.h"
#include "base/shell_quote.h"
#include "base/version.h"
#include "compare/run_json.h"
#include "compare/score_cells.h"
#include "report/compared_settings.h"
#include "report/page.h"
#include "run/run_folder.h"

namespace synthesizer {
namespace {

using nlohmann::json;

/// By the recipe's name, which says more than the task: "5 attentions on multi30k-en-de".
std::string title_of(const Comparison& comparison) {
  const RunRecord& first = comparison.first();
  std::string what = first.task();
  for (const std::string& word : first.provenance.command) {
    const std::filesystem::path path(word);
    if (path.extension() == ".toml") what = path.stem().string();
  }
  if (comparison.rows.size() == 1) return fmt::format("Attention {} on {}", first.attention(), what);
  return fmt::format("{} attentions on {}", comparison.rows.size(), what);
}

/// "2026-11-16T10:37:45Z" as people write it.
std::string date_of(const std::string& started) {
  const size_t t = started.find('T');
  if (t == std::string::npos) return started;
  return started.substr(0, t) + " " + started.substr(t + 1, 5) + " UTC";
}

json settings_json(const Comparison& comparison) {
  std::vector<const Settings*> all;
  for (const ComparedRow& row : comparison.rows) all.push_back(&row.runs.front().settings);
  const SettingsCompared compared = compare_settings(all);
  json shared = json::object(), differ = json::object();
  for (const auto& [key, value] : compared.shared) shared[key] = value;
  for (const auto& [key, values] : compared.differ) differ[key] = values;
  return {{"shared", shared}, {"differ", differ}};
}

}  // namespace

json comparison_report(const Comparison& comparison, const ScoreCells& cells, const std::string& weights,
                       const std::string& text, const std::string& command) {
  const RunRecord& first = comparison.first();
  json scores = json::array(), runs = json::array();
  for (const ComparedRow& row : comparison.rows) {
    runs.push_back(run_json(row, weights, text));
    runs.back()["scores"] = json::object();
  }
  for (size_t n = 0; n < cells.size(); ++n) {
    const std::string& key = comparison.scores[n];
    scores.push_back({{"key", key},
                      {"name", score_name(key)},
                      {"higher_is_better", !lower_is_better(key)},
                      {"decimals", score_digits(key)}});
    for (size_t i = 0; i < runs.size(); ++i) runs[i]["scores"][key] = cell_json(cells[n][i]);
  }
  std::string files;
  for (const auto& [path, hash] : first.provenance.data) {
    files += (files.empty() ? "" : ", ") + path.substr(path.rfind('/') + 1);
  }
  json report = {{"title", title_of(comparison)},
                 {"task", first.task()},
                 {"data", files},
                 {"created", date_of(first.provenance.started)},
                 {"version", version()},
                 {"unit", comparison.counts_examples() ? "examples" : "tokens"},
                 {"scores", scores},
                 {"runs", runs},
                 {"samples", samples_json(comparison.rows.front().evaluations.front().outputs)},
                 {"settings", settings_json(comparison)},
                 {"command", command}};
  if (std::string note = paper_note(comparison); !note.empty()) {
    note.front() = 'T';
    report["paper"] = note + ".";
  }
  return report;
}

void write_run_report(const std::string& folder) {
  const RunFolder files{folder};
  Comparison alone;
  alone.rows.emplace_back();
  ComparedRow& row = alone.rows.back();
  row.runs.push_back(read_run(folder));
  row.label = row.runs.front().attention();
  Evaluation& evaluation = row.evaluations.emplace_back();
  if (const Measurement* best = row.runs.front().best()) {
    for (const auto& [key, value] : best->values) {
      evaluation.scores.emplace_back(key, value);
      if (!is_count(key)) alone.scores.push_back(key);
    }
  }
  const std::string command = shell_command(row.runs.front().provenance.command);
  write_file(files.report(), page(comparison_report(alone, score_cells(alone), "best", "", command)));
}

}  // namespace synthesizer
