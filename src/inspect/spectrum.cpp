#include "inspect/spectrum.h"

#include <cmath>
#include <numeric>

namespace synthesizer {

double Spectrum::effective_rank() const {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double entropy = 0;
  for (const double value : values) {
    if (value > 0) entropy -= value / sum * std::log(value / sum);
  }
  return sum > 0 ? std::exp(entropy) : 0;
}

int64_t Spectrum::holding(double share) const {
  double energy = 0, all = 0;
  for (const double value : values) all += value * value;
  int64_t count = 0;
  for (const double value : values) {
    if (energy >= share * all) break;
    energy += value * value;
    ++count;
  }
  return count;
}

}  // namespace synthesizer
