#include "compare/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/file.h"
#include "base/version.h"
#include "compare/attention_json.h"
#include "compare/comparison_table.h"
#include "compare/score_cells.h"
#include "inspect/inspection.h"
#include "report/page.h"
#include "task/run.h"

namespace synthesizer {
namespace {

using nlohmann::json;

constexpr size_t kSamples = 8;

void set(json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
}

json cell_json(const TableCell& cell) {
  json object = json::object();
  set(object, "value", cell.value);
  set(object, "low", cell.low);
  set(object, "high", cell.high);
  set(object, "spread", cell.spread);
  set(object, "p", cell.p);
  set(object, "paper", cell.paper);
  return object;
}

json curve_json(const std::vector<Measurement>& lines) {
  json points = json::array();
  for (const Measurement& line : lines) {
    json point = {{"step", line.step}, {"seconds", line.seconds}};
    for (const auto& [key, value] : line.values) {
      if (!point.contains(key)) point[key] = value;
    }
    points.push_back(std::move(point));
  }
  return points;
}

/// Lines spread evenly over what was written.
std::vector<size_t> sample_lines(const Outputs& outputs) {
  const size_t all = std::min(outputs.sources.size(), outputs.written.size());
  std::vector<size_t> lines;
  for (size_t i = 0; i < std::min(all, kSamples); ++i) lines.push_back(i * all / std::min(all, kSamples));
  return lines;
}

json run_json(const ComparedRow& row, const std::string& weights, const std::string& text) {
  const RunRecord& run = row.runs.front();
  json object = {{"name", row.label}, {"attention", run.attention()}, {"steps", run.steps()}};
  if (run.parameters)
    object["parameters"] = {{"total", run.parameters->total}, {"synthesis", run.parameters->synthesis}};
  const Costs costs = costs_of(row);
  set(object, "train_tokens_per_second", costs.train_tokens_per_second);
  set(object, "decode_tokens_per_second", costs.decode_tokens_per_second);
  set(object, "peak_memory_bytes", costs.peak_memory_bytes);
  set(object, "seconds", costs.seconds);
  object["curves"] = {{"train", curve_json(run.curves.of("train"))},
                      {"dev", curve_json(run.curves.of("dev"))}};
  if (const std::string dev = setting(run.settings, "data.dev");
      !text.empty() || (!dev.empty() && dev != "[]")) {
    InspectOptions look;
    look.text = text;
    const Inspection seen = inspect_run(open_run(run.path, weights), look);
    object["attention"] = attention_json(seen);
    object["mixture"] = mixture_json(seen);
  }
  const Outputs& outputs = row.measured.front().outputs;
  json written = json::array();
  for (const size_t line : sample_lines(outputs)) written.push_back(outputs.written[line]);
  object["outputs"] = written;
  return object;
}

json samples_json(const Outputs& outputs) {
  json samples = json::array();
  for (const size_t line : sample_lines(outputs))
    samples.push_back({{"source", outputs.sources[line]}, {"reference", outputs.references[0][line]}});
  return samples;
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

json comparison_report(const Comparison& comparison, const std::string& weights, const std::string& text,
                       const std::string& command) {
  const RunRecord& first = comparison.first();
  json scores = json::array(), runs = json::array();
  for (const ComparedRow& row : comparison.rows) {
    runs.push_back(run_json(row, weights, text));
    runs.back()["scores"] = json::object();
  }
  for (const std::string& key : comparison.scores) {
    const bool lower = lower_is_better(key);
    scores.push_back(
        {{"key", key}, {"name", score_name(key)}, {"higher_is_better", !lower}, {"decimals", lower ? 3 : 2}});
    const auto cells = score_cells(comparison, key);
    for (size_t i = 0; i < cells.size(); ++i) runs[i]["scores"][key] = cell_json(cells[i]);
  }
  std::string files;
  for (const auto& [path, hash] : first.data) {
    files += (files.empty() ? "" : ", ") + path.substr(path.rfind('/') + 1);
  }
  json report = {{"title", comparison.rows.size() > 1
                               ? fmt::format("{} attentions on one {}", comparison.rows.size(), first.task())
                               : fmt::format("{} with attention {}", first.task(), first.attention())},
                 {"task", first.task()},
                 {"data", files},
                 {"created", first.started},
                 {"version", std::string("synth ") + version()},
                 {"scores", scores},
                 {"runs", runs},
                 {"samples", samples_json(comparison.rows.front().measured.front().outputs)},
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
  Measured& measured = row.measured.emplace_back();
  if (const Measurement* best = row.runs.front().best()) {
    for (const auto& [key, value] : best->values) {
      measured.scores.emplace_back(key, value);
      if (!is_count(key)) alone.scores.push_back(key);
    }
  }
  std::string command;
  for (const std::string& word : row.runs.front().command) command += (command.empty() ? "" : " ") + word;
  write_file(files.report(), page(comparison_report(alone, "best", "", command)));
}

}  // namespace synthesizer
