#include "cli/number_checks.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <string_view>

#include "base/number_text.h"

namespace synthesizer::cli {
namespace {

/// Whether the text is a whole number as people write it, however large: no blanks, no zeros in front.
bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && (text.size() == 1 || text.front() != '0');
}

/// What is wrong with the text of a whole number; empty where nothing is. `with_most`: whether the message
/// names the largest one.
template <typename T>
std::string whole_mistake(const std::string& text, T least, T most, bool with_most) {
  if (!is_whole(text)) return fmt::format("'{}' is not a whole number", text);
  T value = 0;
  const bool held = parse_number(text, value);
  if (held && value >= least && value <= most) return "";
  if (with_most || (!held && !text.starts_with('-')))
    return fmt::format("it is {} and must be from {} to {}", text, least, most);
  return fmt::format("it is {} and must be at least {}", text, least);
}

/// The whole range of a type.
template <typename T>
CLI::Validator any_whole() {
  using Limits = std::numeric_limits<T>;
  return {[](const std::string& text) { return whole_mistake<T>(text, Limits::min(), Limits::max(), true); },
          ""};
}

CLI::Validator any_real() {
  return {[](const std::string& text) {
            double value = 0;
            return parse_number(text, value) ? "" : fmt::format("'{}' is not a number", text);
          },
          ""};
}

}  // namespace

CLI::Validator at_least(int64_t least) {
  return {[least](const std::string& text) {
            return whole_mistake(text, least, std::numeric_limits<int64_t>::max(), false);
          },
          fmt::format(">={}", least)};
}

CLI::Validator between(int64_t least, int64_t most) {
  return {[=](const std::string& text) { return whole_mistake(text, least, most, true); },
          fmt::format("{}-{}", least, most)};
}

void add_number_checks(CLI::App& program) {
  for (CLI::Option* option : program.get_options()) {
    const std::string type = option->get_type_name();
    const std::string kind = type.substr(0, type.find(':'));  // behind it stand the option's own checks
    if (kind == "INT") option->check(any_whole<int64_t>());
    if (kind == "UINT") option->check(any_whole<uint64_t>());
    if (kind == "FLOAT") option->check(any_real());
  }
  for (CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    add_number_checks(*command);
}

}  // namespace synthesizer::cli
