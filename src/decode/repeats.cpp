#include "decode/repeats.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace synthesizer {

void forbid_repeats(const at::Tensor& log_probabilities,
                    const std::vector<const std::vector<int64_t>*>& outputs, int64_t n) {
  if (n == 0) return;
  const auto before = static_cast<size_t>(n - 1);  // tokens that decide which may not follow
  float* row = log_probabilities.data_ptr<float>();
  for (const std::vector<int64_t>* output : outputs) {
    if (output->size() >= static_cast<size_t>(n)) {
      const auto last = output->end() - static_cast<int64_t>(before);
      for (auto at = output->begin(); at + static_cast<int64_t>(before) != output->end(); ++at) {
        if (std::equal(last, output->end(), at))
          row[at[static_cast<int64_t>(before)]] = -std::numeric_limits<float>::infinity();
      }
    }
    row += log_probabilities.size(1);
  }
}

}  // namespace synthesizer
