#pragma once

#include <ATen/core/Tensor.h>

#include "task/task.h"

namespace synthesizer {

/// How often the entries of one side's tables are used by the texts of a split: entry (i, j) by those longer
/// than both. N×N, from near 0 to 1; one text of the full length is counted beside those that there are, so
/// that nothing counts for nothing but what a causal layer never sees. Without a split all count alike.
at::Tensor reach(const Task& task, const Dataset* split, Side side, bool causal);

}  // namespace synthesizer
