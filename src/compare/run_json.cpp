#include "compare/run_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/number_text.h"
#include "compare/attention_json.h"
#include "compare/comparison_table.h"
#include "inspect/inspection.h"
#include "task/run.h"

namespace synthesizer {
namespace {

using nlohmann::json;

constexpr size_t kSamples = 8;

void set(json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = *value;
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

/// The factor of the learning rate for tables and mixture weights (docs/training.md, parameter groups).
std::optional<double> logit_learning_rate(const RunRecord& run) {
  double factor = 0;
  if (!parse_number(setting(run.settings, "train.logit_learning_rate"), factor)) return std::nullopt;
  return factor;
}

/// Lines spread evenly over what was written.
std::vector<size_t> sample_lines(const Outputs& outputs) {
  const size_t all = std::min(outputs.sources.size(), outputs.written.size());
  std::vector<size_t> lines;
  for (size_t i = 0; i < std::min(all, kSamples); ++i) lines.push_back(i * all / std::min(all, kSamples));
  return lines;
}

}  // namespace

json cell_json(const TableCell& cell) {
  json object = json::object();
  set(object, "value", cell.value);
  set(object, "low", cell.low);
  set(object, "high", cell.high);
  set(object, "spread", cell.spread);
  set(object, "p", cell.p);
  set(object, "paper", cell.paper);
  set(object, "narang", cell.narang);
  return object;
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
  set(object, "logit_learning_rate", logit_learning_rate(run));
  object["curves"] = {{"train", curve_json(run.curves.of("train"))},
                      {"dev", curve_json(run.curves.of("dev"))}};
  if (const std::string dev = setting(run.settings, "data.dev");
      !text.empty() || (!dev.empty() && dev != "[]")) {
    InspectOptions look;
    look.text = text;
    const Inspection seen = inspect_run(open_run(run.path, weights), look);
    object["attention"] = attention_json(seen);
    object["mixture"] = mixture_json(seen);
    object["tables"] = tables_json(seen);
  }
  const Outputs& outputs = row.evaluations.front().outputs;
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

}  // namespace synthesizer
