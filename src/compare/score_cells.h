#pragma once

#include "compare/comparison.h"

namespace synthesizer {

/// A score of every row: its interval and its p against the first row (or its spread, where a row has several
/// seeds), and the paper's figure.
std::vector<TableCell> score_cells(const Comparison& comparison, const std::string& key);

/// On which data the paper has the figures that stand beside ours; empty where none does.
std::string paper_note(const Comparison& comparison);

}  // namespace synthesizer
