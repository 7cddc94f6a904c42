#include "base/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {

void check_at_least(const std::string& key, int64_t value, int64_t least) {
  if (value < least) invalid(fmt::format("{} is {}: it must be at least {}", key, value, least));
}

void check_between(const std::string& key, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return;
  invalid(fmt::format("{} is {}: it must be from {} to {}", key, value, least, most));
}

void check_real(const std::string& key, double value, double least, double most) {
  if (std::isfinite(value) && value >= least && value <= most) return;
  std::string allowed = "a finite number";
  if (std::isfinite(least) && std::isfinite(most)) {
    allowed = fmt::format("between {} and {}", least, most);
  } else if (std::isfinite(least)) {
    allowed += fmt::format(" of at least {}", least);
  } else if (std::isfinite(most)) {
    allowed += fmt::format(" of at most {}", most);
  }
  invalid(fmt::format("{} is {}: it must be {}", key, value, allowed));
}

void check_not_negative(const std::string& key, double value) {
  check_real(key, value, 0, std::numeric_limits<double>::infinity());
}

void check_positive(const std::string& key, double value) {
  if (value > 0 && std::isfinite(value)) return;
  invalid(fmt::format("{} is {}: it must be a finite number above 0", key, value));
}

void check_fraction(const std::string& key, double value) {
  if (value >= 0 && value < 1) return;
  invalid(fmt::format("{} is {}: it must be at least 0 and below 1", key, value));
}

void check_one_of(const std::string& key, const std::string& value, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const std::string& word : allowed)
    list += (list.empty() ? "" : word == allowed.back() ? " or " : ", ") + word;
  invalid(fmt::format("{} is \"{}\": it must be {}{}", key, value, list, did_you_mean(value, allowed)));
}

}  // namespace synthesizer
