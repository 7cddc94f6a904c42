#include "compare/score_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "metric/bootstrap.h"
#include "metric/registry.h"
#include "report/paper.h"
#include "report/spread.h"

namespace synthesizer {
namespace {

/// The scores, by their keys, that are functions of the lines written.
using ScoresOfLines = std::map<std::string, ResampledScore>;
ScoresOfLines scores_of_lines(const Outputs& outputs) {
  ScoresOfLines found;
  for (const auto& scored : outputs.scored) {
    const auto all =
        resampled(find_metric(scored.metric), outputs.written, outputs.references, scored.options);
    for (const auto& [key, score] : all) {
      if (std::find(scored.keys.begin(), scored.keys.end(), key) != scored.keys.end())
        found.try_emplace(key, score);
    }
  }
  return found;
}

/// Intervals and p values, where every row has the score as a function of its lines.
void add_bootstrap(const std::vector<ScoresOfLines>& rows, const std::string& key,
                   std::vector<TableCell>& cells) {
  std::vector<ResampledScore> systems;
  for (const ScoresOfLines& row : rows) {
    const auto found = row.find(key);
    if (found == row.end()) return;
    systems.push_back(found->second);
  }
  if (systems.empty()) return;
  const auto results = paired_bootstrap(systems);
  for (size_t i = 0; i < results.size(); ++i) {
    cells[i].low = results[i].low;
    cells[i].high = results[i].high;
    cells[i].p = results[i].p_value;
  }
}

/// Where published figures for a run are looked up: under its data, or else under the first data there are
/// for its task. Text-to-text scores carry the name of their task, so a mixture of suites finds each of them
/// under the task. Published figures are of subwords: neither a perplexity of characters or bytes nor a
/// classifier that reads them, as in the Long Range Arena, has a counterpart there.
std::string published_under(const RunRecord& run) {
  const std::string data = paper_data(run), tokenizer = setting(run.settings, "data.tokenizer");
  const bool subwords = tokenizer != "characters" && tokenizer != "bytes";
  if (!subwords && (data.empty() || run.task() == "classification")) return "";
  return data.empty() || run.task() == "text-to-text" ? run.task() : data;
}

std::optional<PaperFigure> paper_figure_of(const RunRecord& run, const std::string& key) {
  return paper_figure(published_under(run), run.attention(), run.settings, key);
}

std::vector<TableCell> plain_cells(const Comparison& comparison, const std::string& key) {
  std::vector<TableCell> cells;
  for (const ComparedRow& row : comparison.rows) {
    TableCell cell;
    const auto values = row.values(key);
    if (!values.empty()) {
      const Spread spread = spread_of(values);
      cell.value = spread.mean;
      if (values.size() > 1) cell.spread = spread.deviation;
    }
    add_published(row.runs.front(), key, cell);
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace

void add_published(const RunRecord& run, const std::string& key, TableCell& cell) {
  if (const auto figure = paper_figure_of(run, key)) cell.paper = figure->value;
  if (const auto figure = narang_figure(published_under(run), run.attention(), run.settings, key))
    cell.narang = figure->value;
}

ScoreCells score_cells(const Comparison& comparison) {
  const bool one_each = std::all_of(comparison.rows.begin(), comparison.rows.end(),
                                    [](const ComparedRow& row) { return row.runs.size() == 1; });
  std::vector<ScoresOfLines> lines;
  for (const ComparedRow& row : comparison.rows) {
    if (one_each) lines.push_back(scores_of_lines(row.evaluations.front().outputs));
  }
  ScoreCells all;
  for (const std::string& key : comparison.scores) {
    all.push_back(plain_cells(comparison, key));
    add_bootstrap(lines, key, all.back());
  }
  return all;
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
