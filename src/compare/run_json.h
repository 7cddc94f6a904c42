#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compare/comparison.h"

namespace synthesizer {

// Parts of a report, as docs/report-data.md has them.

/// A score of a run.
nlohmann::json cell_json(const TableCell& cell);

/// A run without its scores: costs, curves, its attention weights on `text` (empty: on lines of dev),
/// mixtures, outputs. Of several seeds the first is shown.
nlohmann::json run_json(const ComparedRow& row, const std::string& weights, const std::string& text);

/// Sources and references of the lines that run_json() has outputs of.
nlohmann::json samples_json(const Outputs& outputs);

}  // namespace synthesizer
