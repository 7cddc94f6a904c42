#include "cli/decode_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/choice_option.h"

namespace synthesizer::cli {
namespace {

std::string hyphenated(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// Adds one option to a command, by the kind of its value.
struct OptionAdder {
  CLI::App& command;
  const DecodeOption& option;
  std::vector<std::function<void(DecodeOptions&)>>& given;

  /// Both ways: a run's recipe may have turned on what is off by default.
  CLI::Option* operator()(bool DecodeOptions::*member) const {
    const std::string name = hyphenated(option.name);
    return command.add_flag_function(
        fmt::format("--{0},!--no-{0}", name),
        [&to = given, member](int64_t times) {
          to.push_back([member, wanted = times > 0](DecodeOptions& o) { o.*member = wanted; });
        },
        option.help);
  }
  template <NamedEnum E>
  CLI::Option* operator()(E DecodeOptions::*member) const {
    return add<std::string>([member, key = option.key()](DecodeOptions& o, const std::string& name) {
             o.*member = choose<E>(key, name);
           })
        ->check(suggested(names_of(choices(E{}))));
  }
  template <typename T>
  CLI::Option* operator()(T DecodeOptions::*member) const {
    return add<T>([member](DecodeOptions& o, const T& value) { o.*member = value; });
  }

 private:
  template <typename T>
  CLI::Option* add(std::function<void(DecodeOptions&, const T&)> set) const {
    return command.add_option_function<T>(
        "--" + hyphenated(option.name),
        [&to = given, set = std::move(set)](const T& value) {
          to.push_back([set, value](DecodeOptions& o) { set(o, value); });
        },
        option.help);
  }
};

/// The value as people write it.
struct ValueText {
  const DecodeOptions& options;
  template <NamedEnum E>
  std::string operator()(E DecodeOptions::*member) const {
    return choice_name(options.*member);
  }
  template <typename T>
  std::string operator()(T DecodeOptions::*member) const {
    return fmt::format("{}", options.*member);
  }
};

}  // namespace

void DecodeArguments::add_to(CLI::App& command, DecodeOption::Use use, bool defaults) {
  for (const DecodeOption& option : decode_option_list()) {
    if (option.use != use) continue;
    CLI::Option* added = std::visit(OptionAdder{command, option, given_}, option.member);
    const bool flag = std::holds_alternative<bool DecodeOptions::*>(option.member);
    if (defaults) {
      added->default_str(std::visit(ValueText{DecodeOptions{}}, option.member));
    } else if (!flag) {
      added->description(option.help + " (default: the recipe's)");
    }
  }
}

DecodeOptions DecodeArguments::over(DecodeOptions options) const {
  for (const auto& set : given_) set(options);
  check(options);
  return options;
}

void add_weights_option(CLI::App& command, std::string& weights) {
  command
      .add_option("--weights", weights,
                  "weights to use: best, last, averaged (by synth average) or a safetensors file")
      ->capture_default_str()
      ->check(suggested({"best", "last", "averaged"}))
      ->type_name("NAME|FILE");
}

}  // namespace synthesizer::cli
