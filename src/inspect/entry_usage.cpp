#include "inspect/entry_usage.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace synthesizer {

at::Tensor entry_usage(const Task& task, const Dataset* split, Side side, bool causal) {
  const int64_t n = task.recipe().model.max_length;
  std::vector<double> longer(static_cast<size_t>(n), 1);  // texts that have a token at this place
  double texts = 1;
  for (int64_t b = 0; split && b < split->batches->per_epoch(); ++b) {
    for (const SideInput& input : task.inputs_of(split->batches->make(b))) {
      if (input.side != side) continue;
      for (const int64_t length : input.tokens.lengths) {
        ++texts;
        for (int64_t i = 0; i < std::min(length, n); ++i) ++longer[static_cast<size_t>(i)];
      }
    }
  }
  const auto share = at::tensor(longer, at::kDouble) / texts;  // N
  const auto both = at::minimum(share.unsqueeze(0), share.unsqueeze(1));
  return causal ? both.tril() : both;
}

}  // namespace synthesizer
