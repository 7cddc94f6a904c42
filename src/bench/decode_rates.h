#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/matrix_form.h"

namespace synthesizer::bench {

/// Translation by a Transformer base with random weights and fixed lengths.
struct DecodeBench {
  std::optional<Quantization> quantize;
  std::vector<std::string> attentions = {"V", "R"};
  std::vector<int64_t> beams = {1, 4}, batches = {1, 32};
  int64_t length = 32, source_length = 32;  ///< of outputs and sources, in tokens
  int repeats = 3;                          ///< rounds
};

struct DecodeRates {
  int64_t beam, batch;
  std::vector<double> tokens_per_second;  ///< medians, one for each attention
};

/// One entry for each beam and batch.
std::vector<DecodeRates> time_decoding(const DecodeBench& bench);

/// Leaves weights and sentences in the folder, where peers find them, and translates for every line of
/// standard input, {"beam": 4, "batch": 32}. Throws InvalidInput where there is not exactly one attention.
void decode_for_peers(const DecodeBench& bench, const std::string& folder);

}  // namespace synthesizer::bench
