#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "base/choice.h"

namespace synthesizer::cli {

/// For an option that takes more than these values: --help and the completion name them, and nothing is
/// refused.
inline CLI::Validator suggested(const std::vector<std::string>& values) {
  return {[](const std::string&) { return std::string(); }, "{" + CLI::detail::join(values, ",") + "}"};
}

/// Adds an option whose value is one of an enum's names; `value` is an E, or an optional one that has none
/// yet. `help` is put before the list of the names.
template <NamedEnum E, typename Value>
CLI::Option* add_choice_of(CLI::App& command, const std::string& name, Value& value,
                           const std::string& help) {
  const Choices all = choices(E{});
  return command
      .add_option_function<std::string>(
          name, [&value, name](const std::string& given) { value = choose<E>(name, given); },
          help + list_of(all))
      ->check(CLI::IsMember(names_of(all)));
}
template <NamedEnum E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, std::optional<E>& value,
                        const std::string& help) {
  return add_choice_of<E>(command, name, value, help);
}
template <NamedEnum E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value, const std::string& help) {
  return add_choice_of<E>(command, name, value, help)->default_str(choice_name(value));
}

}  // namespace synthesizer::cli
