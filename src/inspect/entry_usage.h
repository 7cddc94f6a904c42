#pragma once

#include <ATen/core/Tensor.h>

#include "task/task.h"

namespace synthesizer {

/// How often the texts of a split use each entry of one side's tables, as a fraction: entry (i, j) is used by
/// texts longer than i and j. N×N. One text of the full length is added to the count, so that only entries
/// hidden by a causal mask are 0. Without a split all visible entries are 1.
at::Tensor entry_usage(const Task& task, const Dataset* split, Side side, bool causal);

}  // namespace synthesizer
