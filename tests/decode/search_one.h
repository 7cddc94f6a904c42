#pragma once

#include <vector>

#include "decode/beam.h"
#include "decode/markov_model.h"

namespace synthesizer::testing {

/// What beam search finds for the one sentence of the tables.
inline std::vector<Hypothesis> search_one(const at::Tensor& tables, int64_t limit,
                                          const DecodeOptions& options) {
  MarkovModel model(tables);
  return beam_search(model, kBegin, kEnd, {limit}, options).at(0);
}

}  // namespace synthesizer::testing
