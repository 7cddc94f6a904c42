#pragma once

#include "metric/metric.h"

namespace synthesizer {

/// Scores of labels, as scikit-learn computes them, all times 100. Throw InvalidInput where the numbers of
/// labels differ or there are none. White space behind a label is no part of it.

/// Of all labels the share that is right.
double accuracy(const Segments& predicted, const Segments& gold);

/// The harmonic mean of that label's precision and recall; 0 where nobody has the label.
double f1_binary(const Segments& predicted, const Segments& gold, const std::string& positive);

/// The mean of the F1 of every label that occurs, on either side.
double macro_f1(const Segments& predicted, const Segments& gold);

/// Matthews' correlation, for any number of labels (Gorodkin, 2004): -100 to 100; 0 where one side has only
/// one label.
double matthews(const Segments& predicted, const Segments& gold);

/// How often a label was predicted, is right, and both.
struct LabelCounts {
  double predicted = 0, gold = 0, both = 0;

  double f1() const { return predicted + gold > 0 ? 200 * both / (predicted + gold) : 0; }
};

/// What was predicted and what is right, as numbers of labels.
struct LabelPairs {
  std::vector<std::string> labels;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;  ///< one per segment: predicted, gold
};
LabelPairs label_pairs(const Segments& predicted, const Segments& gold);

/// Adds such a pair to the counts of all labels.
void count_pair(std::vector<LabelCounts>& counts, uint32_t predicted, uint32_t gold, double times = 1);

// The scores above from counts, an entry a label. A label that was never counted is as if there were none.
double accuracy_from(const std::vector<LabelCounts>& counts);
double macro_f1_from(const std::vector<LabelCounts>& counts);
double matthews_from(const std::vector<LabelCounts>& counts);

Metric classify_metric();

}  // namespace synthesizer
