#pragma once

#include <cstdint>
#include <vector>

#include "decode/hypothesis.h"
#include "model/step_model.h"

namespace synthesizer {

/// Beam search for all sentences at once: the n best of each, best first. The model has one row per sentence,
/// each of which starts from `begin` (any id the model takes); `max_lengths` has one per sentence, see
/// output_limits.
///
/// A sentence's rows become as many as its live hypotheses after the first step, and are dropped when it is
/// done, so that steps get cheaper; its result doesn't depend on the others. At its maximum length the end is
/// forced, with its log-probability, as in fairseq; see forced_end and transformers_rules of the options.
/// Each step costs one log-softmax and one topk over the rows. Throws std::runtime_error where the model's
/// output is not a number.
std::vector<std::vector<Hypothesis>> beam_search(StepModel& model, int64_t begin, int64_t end,
                                                 const std::vector<int64_t>& max_lengths,
                                                 const DecodeOptions& options);

}  // namespace synthesizer
