#include "report/packed_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"

namespace synthesizer {
namespace {

std::string base64(const std::vector<uint8_t>& bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const uint32_t three = static_cast<uint32_t>(bytes[i]) << 16 |
                           (left > 1 ? static_cast<uint32_t>(bytes[i + 1]) << 8 : 0U) |
                           (left > 2 ? static_cast<uint32_t>(bytes[i + 2]) : 0U);
    text += kDigits[three >> 18];
    text += kDigits[three >> 12 & 63];
    text += left > 1 ? kDigits[three >> 6 & 63] : '=';
    text += left > 2 ? kDigits[three & 63] : '=';
  }
  return text;
}

}  // namespace

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
  std::vector<uint8_t> bytes;
  bytes.reserve(values.size());
  for (const float value : values) {
    const float share = (finite(value) - low) / range;
    bytes.push_back(static_cast<uint8_t>(std::lround(255 * (power == 2 ? std::sqrt(share) : share))));
  }
  return {{"rows", rows}, {"columns", columns}, {"low", low},
          {"high", high}, {"power", power},     {"data", base64(bytes)}};
}

}  // namespace synthesizer
