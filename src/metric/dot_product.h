#pragma once

#include <numeric>
#include <span>

namespace synthesizer {

/// Of two vectors of one length.
inline double dot_product(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace synthesizer
