#pragma once

#include <string>
#include <vector>

#include "compare/cached_evaluation.h"
#include "report/table.h"
#include "run/run_record.h"

namespace synthesizer {

/// One row of a comparison: a run, or several that differ in their seed alone.
struct ComparedRow {
  std::string label;
  std::vector<RunRecord> runs;
  std::vector<Evaluation> evaluations;  ///< one per run

  /// The values of a score, one per run; empty where a run has none of that name.
  std::vector<double> values(const std::string& score) const;
};

/// Several rows over the same data, and what of them is worth a column.
struct Comparison {
  std::vector<ComparedRow> rows;
  std::vector<std::string> scores;  ///< keys as `synth eval --json` has them; the one that counts first

  const RunRecord& first() const { return rows.front().runs.front(); }
  /// What speeds count: texts, where each has a label, and not tokens.
  bool counts_examples() const { return first().task() == "classification"; }
};

/// Runs that exist, evaluated; the first is what the others are measured against. Those whose attention is
/// the same and that differ in their seed alone share a row. Throws InvalidInput where they are not of one
/// task and one data set, or where one has not finished a step.
Comparison compare_runs(const std::vector<std::string>& folders, const std::string& weights,
                        const std::vector<std::string>& data);

/// The name of a score for people: "bleu" is "BLEU".
std::string score_name(const std::string& key);
/// Digits behind the point that say something.
int score_digits(const std::string& key);

}  // namespace synthesizer
