#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace synthesizer {

// Values that people wrote, checked. Each throws InvalidInput where a value is out of its range, with the
// key, the value and what is allowed: "train.steps is -1: it must be at least 0".

void check_at_least(const std::string& key, int64_t value, int64_t least);
void check_between(const std::string& key, int64_t value, int64_t least, int64_t most);
/// Finite and from `least` to `most`; either may be infinite.
void check_real(const std::string& key, double value, double least, double most);
void check_not_negative(const std::string& key, double value);  ///< and finite
void check_positive(const std::string& key, double value);      ///< and finite
void check_fraction(const std::string& key, double value);      ///< at least 0 and below 1
void check_one_of(const std::string& key, const std::string& value, const std::vector<std::string>& allowed);

}  // namespace synthesizer
