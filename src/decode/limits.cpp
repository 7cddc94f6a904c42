#include "decode/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace synthesizer {

std::vector<int64_t> output_limits(const StepModel& model, std::vector<int64_t> max_lengths,
                                   const DecodeOptions& options) {
  check(options);
  if (static_cast<int64_t>(max_lengths.size()) != model.rows()) {
    invalid(fmt::format("{} maximum lengths for {} sentences: there must be one for each", max_lengths.size(),
                        model.rows()));
  }
  if (model.max_length() < 1) invalid("the model can make no step: its maximum length must be at least 1");
  for (size_t n = 0; n < max_lengths.size(); ++n) {
    int64_t& limit = max_lengths[n];
    if (limit < 0) {
      invalid(fmt::format("the maximum length of sentence {} is {}: it must be at least 0", n, limit));
    }
    if (options.max_length > 0) limit = std::min(limit, options.max_length);
    limit = std::min(limit, model.max_length() - 1);
  }
  return max_lengths;
}

}  // namespace synthesizer
