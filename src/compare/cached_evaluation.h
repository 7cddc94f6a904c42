#pragma once

#include <string>
#include <vector>

#include "task/task.h"

namespace synthesizer {

/// Evaluates a run, or takes what was found before: the result is kept in the run's folder, evaluation.json,
/// and holds as long as the weights, the data and the way of decoding are the same. `data` as of `synth eval
/// --data`.
Evaluation cached_evaluation(const std::string& folder, const std::string& weights,
                             const std::vector<std::string>& data);

}  // namespace synthesizer
