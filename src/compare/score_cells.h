#pragma once

#include "compare/comparison.h"

namespace synthesizer {

/// One list for each of the comparison's scores, a cell per row: the score, its interval and its p against
/// the first row (or its spread, where a row has several seeds), and published figures. Resampling takes its
/// time: to be made once, for the table and for the page.
using ScoreCells = std::vector<std::vector<TableCell>>;
ScoreCells score_cells(const Comparison& comparison);

/// Puts published figures of that score ("parameters" too) for that run into the cell.
void add_published(const RunRecord& run, const std::string& key, TableCell& cell);

/// On which data the paper has the figures that stand beside ours; empty where none does.
std::string paper_note(const Comparison& comparison);

}  // namespace synthesizer
