#pragma once

#include <cstdint>
#include <vector>

#include "decode/options.h"

namespace synthesizer {

/// One output of a search.
struct Hypothesis {
  std::vector<int64_t> tokens;  ///< without begin and end
  double log_probability = 0;   ///< the sum over the tokens and the end
  double score = 0;             ///< normalised by the length; what hypotheses are ordered by
  bool finished = true;         ///< false: cut at the maximum length, or its end was forced there
};

/// What a log-probability is divided by; `length` counts the end token, so that it is never 0.
double length_norm(int64_t length, const DecodeOptions& options);

/// The hypothesis that is cut after these tokens, without an end, its score included (forced_end = false).
Hypothesis cut_hypothesis(std::vector<int64_t> tokens, double log_probability, const DecodeOptions& options);

/// The hypothesis that ends after these tokens, its score included.
Hypothesis finished_hypothesis(std::vector<int64_t> tokens, double log_probability, bool finished,
                               const DecodeOptions& options);

}  // namespace synthesizer
