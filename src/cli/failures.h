#pragma once

#include <exception>
#include <string>

namespace synthesizer::cli {

/// What a failure that is not the user's mistake is, in one line and in words that help; for an allocation
/// that failed: how much was asked for.
std::string explain_failure(const std::exception& failure);

}  // namespace synthesizer::cli
