#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace synthesizer {

/// A matrix of weights as the page takes it, small enough to carry hundreds of them: {"rows", "columns",
/// "low", "high", "power", "data"}, data being one byte a weight in base64, row by row:
///
///     value = low + (high - low) * (byte / 255) ^ power
///
/// Logits, of both signs, have power 1. Weights, none of them negative, have low 0 and power 2: beside one
/// weight near 1 a hundred others near 1/100 still differ. What is not finite counts as 0.
nlohmann::json packed_matrix(std::span<const float> values, int64_t rows, int64_t columns);

}  // namespace synthesizer
