#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace synthesizer {

/// The whole text as a number; false where it is not one, or too large for T.
template <class T>
bool parse_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end;
}

/// 1234567 as "1,234,567".
std::string with_thousands(int64_t number);

/// The shortest number that reads back as the same, always with a point or an exponent: "1000.0".
std::string real_text(double number);

/// 320000000000 as "320.0 GB", 1500000 as "2 MB".
std::string byte_text(double bytes);

/// Seconds as "0:42", "12:07", "1:02:07", or "3d 4:05:06"; "?" where they are negative or not finite.
std::string duration(double seconds);

}  // namespace synthesizer
