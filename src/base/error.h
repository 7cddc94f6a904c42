#pragma once

#include <stdexcept>
#include <string>

namespace synthesizer {

/// Thrown for invalid user input. The message names the value, what is allowed and, where there is one, the
/// option that sets it. Python gets a ValueError.
class InvalidInput : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

[[noreturn]] inline void invalid(const std::string& message) {
  throw InvalidInput(message);
}

}  // namespace synthesizer
