#pragma once

#include <CLI/Validators.hpp>

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace synthesizer::cli {

// For options that are whole numbers. (CLI11's own checks print a range up to the largest double there is.)

CLI::Validator at_least(int64_t least);
CLI::Validator between(int64_t least, int64_t most);

/// Adds to every numeric option of the program: its whole text must be a number that its type can hold. CLI11
/// alone takes an empty text for 0, "010" for 8, and what is too large for the largest number. Call it after
/// all commands were added.
void add_number_checks(CLI::App& program);

}  // namespace synthesizer::cli
