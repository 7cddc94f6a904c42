#include "report/packed_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/base64.h"
#include "base/error.h"

namespace synthesizer {

nlohmann::json packed_matrix(std::span<const float> values, int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0 || static_cast<int64_t>(values.size()) != rows * columns) {
    invalid(fmt::format("a matrix of {} by {} cannot have {} values", rows, columns, values.size()));
  }
  const auto finite = [](float value) { return std::isfinite(value) ? value : 0.0F; };
  float low = 0, high = 0;
  for (const float value : values) {
    low = std::min(low, finite(value));
    high = std::max(high, finite(value));
  }
  const int power = low < 0 ? 1 : 2;
  const float range = high > low ? high - low : 1;
  std::string bytes;
  bytes.reserve(values.size());
  for (const float value : values) {
    const float share = (finite(value) - low) / range;
    const auto level = std::lround(255 * (power == 2 ? std::sqrt(share) : share));
    bytes += static_cast<char>(static_cast<uint8_t>(level));
  }
  return {{"rows", rows}, {"columns", columns}, {"low", low},
          {"high", high}, {"power", power},     {"data", base64(bytes)}};
}

}  // namespace synthesizer
