#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "base/choice.h"

namespace synthesizer::cli {

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
