#pragma once

#include <fmt/format.h>

#include <utility>

#include "base/output.h"

namespace synthesizer::cli {

/// A result, to standard output. Throws OutputFailed.
template <typename... Values>
void print_out(fmt::format_string<Values...> format, Values&&... values) {
  write_output(fmt::format(format, std::forward<Values>(values)...));
}

/// A remark or progress, to standard error, unless --quiet. Never fails because of standard error.
template <typename... Values>
void print_note(fmt::format_string<Values...> format, Values&&... values) {
  write_note(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace synthesizer::cli
