#pragma once

#include <fmt/format.h>
#include <CLI/Validators.hpp>

#include <cstdint>

#include "base/number_text.h"

namespace synthesizer::cli {

/// For options that are whole numbers: at least `least`. (CLI11's own checks print a range up to the largest
/// double there is.) What is no number at all is left to the option's type.
inline CLI::Validator at_least(int64_t least) {
  return {[least](const std::string& text) {
            int64_t value = 0;
            if (!parse_number(text, value) || value >= least) return std::string();
            return fmt::format("it is {} and must be at least {}", value, least);
          },
          fmt::format(">={}", least)};
}

}  // namespace synthesizer::cli
