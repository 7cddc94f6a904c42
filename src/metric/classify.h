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

Metric classify_metric();

}  // namespace synthesizer
