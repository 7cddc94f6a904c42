#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compare/score_cells.h"

namespace synthesizer {

/// Everything that the page of a comparison shows (docs/report-data.md): the table, the curves, the
/// attention weights (the first run of each row is looked into, on `text` or on lines of dev), samples,
/// settings. `command`: what to type to get it again.
nlohmann::json comparison_report(const Comparison& comparison, const ScoreCells& cells,
                                 const std::string& weights, const std::string& text,
                                 const std::string& command);

/// The same for one run that has just been trained: scores are those of its best validation. Writes
/// report.html into its folder.
void write_run_report(const std::string& folder);

}  // namespace synthesizer
