#include "compare/comparison_table.h"

#include <algorithm>

#include "report/paper.h"
#include "report/spread.h"

namespace synthesizer {
namespace {

using Numbers = TableColumn::Numbers;
using Best = TableColumn::Best;

TableCell cell(const std::optional<double>& value) {
  return value ? TableCell(*value) : TableCell();
}

}  // namespace

Costs costs_of(const ComparedRow& row) {
  std::vector<double> train, decode, memory, seconds;
  for (size_t i = 0; i < row.runs.size(); ++i) {
    const RunRecord& run = row.runs[i];
    if (const auto speed = run.tokens_per_second()) train.push_back(*speed);
    const Outputs& outputs = row.evaluations[i].outputs;
    if (outputs.seconds > 0) decode.push_back(static_cast<double>(outputs.tokens) / outputs.seconds);
    const auto& lines = run.curves.of("train");
    if (!lines.empty()) {
      if (const auto peak = lines.back().value("peak_memory_bytes")) memory.push_back(*peak);
    }
    if (run.seconds() > 0) seconds.push_back(run.seconds());
  }
  auto middle = [](const std::vector<double>& values) {
    return values.empty() ? std::nullopt : std::optional(median(values));
  };
  return {middle(train), middle(decode), middle(memory), middle(seconds)};
}

Table comparison_table(const Comparison& comparison, const ScoreCells& scores) {
  const bool several = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                   [](const ComparedRow& row) { return row.runs.size() > 1; });
  std::vector<TableColumn> columns = {{"attention", "attention", Numbers::fixed, 0, Best::none, true},
                                      {"parameters", "parameters", Numbers::count},
                                      {"synthesis", "of S", Numbers::count}};
  if (several) columns.push_back({"seeds", "seeds", Numbers::count});
  for (const std::string& key : comparison.scores) {
    columns.push_back({key, score_name(key), Numbers::fixed, score_digits(key),
                       lower_is_better(key) ? Best::lowest : Best::highest});
  }
  const bool writes = comparison.rows.front().evaluations.front().outputs.seconds > 0;
  const bool labels = comparison.counts_examples();
  columns.push_back({"train_tokens_per_second", labels ? "train ex/s" : "train tok/s", Numbers::count});
  if (writes)
    columns.push_back({"decode_tokens_per_second", labels ? "label ex/s" : "decode tok/s", Numbers::count});
  columns.push_back({"peak_memory_bytes", "memory", Numbers::bytes});
  columns.push_back({"seconds", "time", Numbers::duration});

  Table table(std::move(columns));
  for (size_t i = 0; i < comparison.rows.size(); ++i) {
    const ComparedRow& row = comparison.rows[i];
    const auto& parameters = row.runs.front().parameters;
    const Costs costs = costs_of(row);
    std::vector<TableCell> cells = {row.label};
    cells.push_back(parameters ? TableCell(static_cast<double>(parameters->total)) : TableCell());
    // Sizes are comparable where the data are; elsewhere the models are others on purpose.
    const RunRecord& first = row.runs.front();
    if (!paper_data(first).empty()) add_published(first, "parameters", cells.back());
    cells.push_back(parameters ? TableCell(static_cast<double>(parameters->synthesis)) : TableCell());
    if (several) cells.push_back(static_cast<double>(row.runs.size()));
    for (const auto& column : scores) cells.push_back(column[i]);
    cells.push_back(cell(costs.train_tokens_per_second));
    if (writes) cells.push_back(cell(costs.decode_tokens_per_second));
    cells.push_back(cell(costs.peak_memory_bytes));
    cells.push_back(cell(costs.seconds));
    table.add(std::move(cells));
  }
  if (const std::string note = paper_note(comparison); !note.empty()) table.note(note);
  return table;
}

}  // namespace synthesizer
