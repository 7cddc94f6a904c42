#pragma once

#include <vector>

#include "task/benchmark.h"

namespace synthesizer {

/// GLUE (Wang et al. 2018): nine tasks in tab-separated files without quoting. Each is read with the columns
/// its official files have, in any order, and as a plain table: `label` (STS-B: `score`), then `sentence` or
/// `sentence1`, `sentence2`.
std::vector<Benchmark> glue_benchmarks();

}  // namespace synthesizer
