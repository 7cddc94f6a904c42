#pragma once

#include <cstdint>
#include <string>

namespace synthesizer {

/// 1234567 as "1,234,567".
std::string with_thousands(int64_t number);

/// Seconds as "0:42", "12:07", "1:02:07", or "3d 4:05:06"; "?" where they are negative or not finite.
std::string duration(double seconds);

}  // namespace synthesizer
