#include "base/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace synthesizer {

std::string with_thousands(int64_t number) {
  std::string digits = fmt::format("{}", number);
  const int first = number < 0 ? 1 : 0;
  for (int place = static_cast<int>(digits.size()) - 3; place > first; place -= 3) {
    digits.insert(static_cast<size_t>(place), ",");
  }
  return digits;
}

std::string real_text(double number) {
  std::string text = fmt::format("{}", number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string byte_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.0f} MB", bytes / 1e6);
  return bytes < 1e12 ? fmt::format("{:.1f} GB", bytes / 1e9) : fmt::format("{:.1f} TB", bytes / 1e12);
}

std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e12)) return "?";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  const int64_t days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60, rest = whole % 60;
  if (days > 0) return fmt::format("{}d {}:{:02}:{:02}", with_thousands(days), hours, minutes, rest);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

}  // namespace synthesizer
