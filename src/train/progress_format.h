#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace synthesizer {

/// 1234567 as "1,234,567".
std::string with_thousands(int64_t number);

/// Seconds as "0:42", "12:07", "1:02:07", or "3d 4:05:06"; "?" where they are negative or not finite.
std::string duration(double seconds);

/// Columns a UTF-8 text takes on a terminal: wide characters two, combining ones none.
int columns(std::string_view text);

/// As much of a UTF-8 text as fits, ending in "…" where something was cut. Control characters are left out,
/// bytes that are not UTF-8 become "?".
std::string fit(std::string_view text, int columns);

/// The two parts of a bar: what is done, to half a column, and what is left.
struct Bar {
  std::string done, left;
};
Bar bar(double fraction, int columns);

}  // namespace synthesizer
