#include "compare/score_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "metric/bootstrap.h"
#include "metric/registry.h"
#include "report/paper.h"
#include "report/spread.h"

namespace synthesizer {
namespace {

/// The score as a function of the lines; null where it is none.
ResampledScore resampled_score(const Outputs& outputs, const std::string& key) {
  for (const auto& scored : outputs.scored) {
    if (std::find(scored.keys.begin(), scored.keys.end(), key) == scored.keys.end()) continue;
    const auto all =
        resampled(find_metric(scored.metric), outputs.written, outputs.references, scored.options);
    for (const auto& [name, score] : all) {
      if (name == key) return score;
    }
  }
  return nullptr;
}

/// Intervals and p values, where every row is one run that wrote something.
void add_bootstrap(const Comparison& comparison, const std::string& key, std::vector<TableCell>& cells) {
  std::vector<ResampledScore> systems;
  for (const ComparedRow& row : comparison.rows) {
    if (row.runs.size() > 1) return;
    systems.push_back(resampled_score(row.measured.front().outputs, key));
    if (!systems.back()) return;
  }
  const auto results = paired_bootstrap(systems);
  for (size_t i = 0; i < results.size(); ++i) {
    cells[i].low = results[i].low;
    cells[i].high = results[i].high;
    cells[i].p = results[i].p_value;
  }
}

/// The paper's figure for a row: of the same data, or else of the first data it has for the task. A
/// perplexity of characters has nothing to do with the paper's, which are of subwords.
std::optional<PaperFigure> paper_figure_of(const RunRecord& run, const std::string& key) {
  const std::string data = paper_data(run);
  if (data.empty() && setting(run.settings, "data.tokenizer") == "characters") return std::nullopt;
  return paper_figure(data.empty() ? run.task() : data, run.attention(), key);
}

}  // namespace

std::vector<TableCell> score_cells(const Comparison& comparison, const std::string& key) {
  std::vector<TableCell> cells;
  for (const ComparedRow& row : comparison.rows) {
    TableCell cell;
    const auto values = row.values(key);
    if (!values.empty()) {
      const Spread spread = spread_of(values);
      cell.value = spread.mean;
      if (values.size() > 1) cell.spread = spread.deviation;
    }
    if (const auto figure = paper_figure_of(row.runs.front(), key)) cell.paper = figure->value;
    cells.push_back(cell);
  }
  add_bootstrap(comparison, key, cells);
  return cells;
}

std::string paper_note(const Comparison& comparison) {
  for (const std::string& key : comparison.scores) {
    for (const ComparedRow& row : comparison.rows) {
      const RunRecord& run = row.runs.front();
      const auto figure = paper_figure_of(run, key);
      if (!figure) continue;
      return fmt::format(
          "the paper's figures are those it prints for {}{}{}", figure->data,
          paper_data(run).empty() ? ", which is not the data of these runs" : "",
          figure->checked ? "" : " (taken from notes on the table, not from the table itself)");
    }
  }
  return "";
}

}  // namespace synthesizer
