#pragma once

#include <span>
#include <vector>

#include "decode/candidates.h"
#include "decode/options.h"
#include "decode/random_stream.h"

namespace synthesizer {

/// The tokens that may be drawn, with their probabilities up to a common factor: temperature, then top-k,
/// then top-p of what that left. All arithmetic is in double and in a fixed order, without vector code: the
/// same logits give the same tokens on every machine. `forbidden` (a token, or -1) is left out unless it is
/// the only one possible. Empty only where the logits are no distribution: NaN, +infinity, or all -infinity.
std::vector<Choice> sampling_candidates(std::span<const float> logits, const DecodeOptions& options,
                                        int64_t forbidden = -1);

/// One of them, by its share.
int64_t draw_token(std::span<const Choice> weights, RandomStream& random);

}  // namespace synthesizer
