#pragma once

#include <cstdint>
#include <vector>

namespace synthesizer {

/// What the singular values of a table say about it.
struct Spectrum {
  std::vector<double> values;  ///< the singular values σ, largest first

  /// exp of the entropy of σ / Σσ (Roy and Vetterli 2007): N where all are alike, 1 where one stands alone.
  double effective_rank() const;
  /// How many of the largest have that share of Σσ².
  int64_t holding(double share) const;
};

}  // namespace synthesizer
