#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "decode/options.h"
#include "model/step_model.h"

namespace synthesizer {

/// Called with each token as it is drawn, so that text can be shown while it grows.
using OnToken = std::function<void(int64_t row, int64_t token)>;

/// Continues prompts, one per row of the model and none of them empty: feeds each and draws up to `tokens`
/// more, as temperature, top_k and top_p of the options say. A row ends early at `end`, which is not part of
/// the result
/// (-1: there is none), at the options' max_length, and where the model can make no more steps. Before
/// min_length no end is drawn. The result holds what was drawn, without the prompts.
///
/// A row's random numbers follow from the seed and the row alone: its mates, and prompts of other lengths,
/// change nothing. Throws std::runtime_error where the model's output is not a number.
std::vector<std::vector<int64_t>> sample(StepModel& model, const std::vector<std::vector<int64_t>>& prompts,
                                         int64_t tokens, int64_t end, const DecodeOptions& options,
                                         const OnToken& on_token = {});

}  // namespace synthesizer
