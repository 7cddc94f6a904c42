#pragma once

#include <span>
#include <vector>

namespace synthesizer {

/// What several runs of one setting, which differ in their seed alone, have in common.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< of the sample (n - 1); not a number for one run
};

/// Of at least one number.
Spread spread_of(std::span<const double> values);

/// The middle one of at least one; of an even number the upper one in the middle.
double median(std::vector<double> values);

}  // namespace synthesizer
