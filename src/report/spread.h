#pragma once

#include <span>

namespace synthesizer {

/// What several runs of one setting, which differ in their seed alone, have in common.
struct Spread {
  double mean = 0;
  double deviation = 0;  ///< of the sample (n - 1); not a number for one run
};

/// Of at least one number.
Spread spread_of(std::span<const double> values);

}  // namespace synthesizer
