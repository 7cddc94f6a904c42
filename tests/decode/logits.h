#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace synthesizer::testing {

/// The logit of a token that cannot come.
inline constexpr float never = -std::numeric_limits<float>::infinity();

/// The logits of these probabilities.
inline std::vector<float> logs(std::vector<float> probabilities) {
  for (float& p : probabilities) p = std::log(p);
  return probabilities;
}

}  // namespace synthesizer::testing
