#pragma once

#include <stdexcept>
#include <string>

namespace synthesizer {

/// Somebody asked for something that cannot be. The message names the value, what was allowed and,
/// where there is one, the option that sets it. Python sees a ValueError.
class InvalidInput : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

[[noreturn]] inline void invalid(const std::string& message) {
  throw InvalidInput(message);
}

}  // namespace synthesizer
