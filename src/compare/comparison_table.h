#pragma once

#include "compare/score_cells.h"

namespace synthesizer {

/// The comparison as a table: attention, parameters, scores with their 95% intervals and whether they differ
/// from the first row's by more than chance (or their spread, where a row has several seeds), the paper's
/// figures, speeds, memory, time.
Table comparison_table(const Comparison& comparison, const ScoreCells& scores);

/// What a run was worth in speed and memory; empty where it is not known.
struct Costs {
  std::optional<double> train_tokens_per_second, decode_tokens_per_second, peak_memory_bytes, seconds;
};
Costs costs_of(const ComparedRow& row);

}  // namespace synthesizer
