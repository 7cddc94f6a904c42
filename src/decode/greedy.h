#pragma once

#include <cstdint>
#include <vector>

#include "decode/hypothesis.h"
#include "model/step_model.h"

namespace synthesizer {

/// The most likely token at each step: the result of beam_search with a beam of 1, one hypothesis per
/// sentence, for less work. There are no candidates to sort, and rows move only when a finished sentence is
/// dropped. `beam`, `nbest`, `early_stopping`, `transformers_rules` and `renormalize` of the options are not
/// looked at.
std::vector<std::vector<Hypothesis>> greedy_search(StepModel& model, int64_t begin, int64_t end,
                                                   const std::vector<int64_t>& max_lengths,
                                                   const DecodeOptions& options);

}  // namespace synthesizer
