#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace synthesizer {

/// A matrix of weights as the page takes it, small enough to carry hundreds of them: {"rows", "columns",
/// "low", "high", "data"}, data being one byte a weight in base64, row by row: value = low + byte / 255 *
/// (high - low). Weights, none of them negative, have low = 0, so that nothing looks like nothing. What is
/// not finite counts as 0.
nlohmann::json packed_matrix(std::span<const float> values, int64_t rows, int64_t columns);

}  // namespace synthesizer
