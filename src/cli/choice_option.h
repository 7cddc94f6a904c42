#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/choice.h"

namespace synthesizer::cli {

/// For an option that takes more than these values: --help and the completion name them, and nothing is
/// refused.
inline CLI::Validator suggested(const std::vector<std::string>& values) {
  return {[](const std::string&) { return std::string(); }, "{" + CLI::detail::join(values, ",") + "}"};
}

/// Adds an option whose value is one of an enum's names. `help` is put before the list of them.
template <NamedEnum E>
CLI::Option* add_choice(CLI::App& command, const std::string& name, E& value, const std::string& help) {
  const Choices all = choices(value);
  return command
      .add_option_function<std::string>(
          name, [&value, name](const std::string& given) { value = choose<E>(name, given); },
          help + list_of(all))
      ->default_str(choice_name(value))
      ->check(CLI::IsMember(names_of(all)));
}

}  // namespace synthesizer::cli
