#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace synthesizer {

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
