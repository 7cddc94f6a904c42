#include "decode/hypothesis.h"

#include <cmath>

namespace synthesizer {

double length_norm(int64_t length, const DecodeOptions& options) {
  const auto n = static_cast<double>(length);
  return std::pow(options.length_normalization == LengthNormalization::gnmt ? (5 + n) / 6 : n,
                  options.length_penalty);
}

Hypothesis cut_hypothesis(std::vector<int64_t> tokens, double log_probability, const DecodeOptions& options) {
  const double score = log_probability / length_norm(static_cast<int64_t>(tokens.size()), options);
  return {std::move(tokens), log_probability, score, false};
}

Hypothesis finished_hypothesis(std::vector<int64_t> tokens, double log_probability, bool finished,
                               const DecodeOptions& options) {
  const auto length = static_cast<int64_t>(tokens.size()) + 1;
  const double score = log_probability / length_norm(length, options);
  return {std::move(tokens), log_probability, score, finished};
}

}  // namespace synthesizer
