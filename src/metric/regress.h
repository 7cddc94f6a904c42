#pragma once

#include <span>

#include "metric/metric.h"

namespace synthesizer {

/// Correlations of numbers, as SciPy computes them, times 100: -100 to 100. Throw InvalidInput where the
/// counts differ, and where all numbers of one side are equal: a correlation is then undefined.

double pearson(std::span<const double> predicted, std::span<const double> gold);

/// Pearson's of the ranks; equal numbers share the mean of theirs.
double spearman(std::span<const double> predicted, std::span<const double> gold);

Metric regress_metric();

}  // namespace synthesizer
