// synth completion: prints a shell completion script, made from the definitions of commands and options.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <utility>

#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/print.h"

namespace synthesizer::cli {
namespace {

struct OfferedOption {
  std::string name;  ///< "--beam"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;
};

struct OfferedCommand {
  std::string path;  ///< " bench attention"; empty for the program itself
  std::vector<OfferedOption> options;
  std::vector<std::string> first_choices;  ///< of the first argument, where it has a list of them
  std::vector<const CLI::App*> subcommands;

  /// What stands before the values that are offered, and these: after an option, or after the command's name.
  std::vector<std::pair<std::string, std::vector<std::string>>> values() const {
    std::vector<std::pair<std::string, std::vector<std::string>>> all;
    if (!first_choices.empty()) all.emplace_back(path.substr(path.rfind(' ') + 1), first_choices);
    for (const OfferedOption& option : options) {
      if (!option.choices.empty()) all.emplace_back(option.name, option.choices);
    }
    return all;
  }

  std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (const CLI::App* sub : subcommands) all.push_back(sub->get_name());
    for (const OfferedOption& option : options) all.push_back(option.name);
    return all;
  }
};

/// The values of an option that has a list of them: CLI11 shows it as "TEXT:{truncate,error}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}', begin);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

void collect(const CLI::App& app, const std::string& path, std::vector<OfferedCommand>& all) {
  OfferedCommand command{path, {}, {}, app.get_subcommands([](const CLI::App*) { return true; })};
  bool first = true;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && std::exchange(first, false)) command.first_choices = choices_of(*option);
    for (const std::string& name : option->get_lnames())
      command.options.push_back({"--" + name, option->get_description(), option->get_items_expected_max() > 0,
                                 choices_of(*option)});
  }
  all.push_back(command);
  for (const CLI::App* sub : command.subcommands) collect(*sub, path + " " + sub->get_name(), all);
}

/// In single quotes as fish reads them; for the others there is shell_quoted().
std::string fish_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string paths_pattern(const std::vector<OfferedCommand>& commands) {
  std::vector<std::string> patterns;
  for (const OfferedCommand& command : commands) {
    if (!command.path.empty()) patterns.push_back("\"" + command.path + "\"");
  }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

std::string bash_script(const std::vector<OfferedCommand>& commands) {
  std::string choices, words;
  for (const OfferedCommand& command : commands) {
    words += fmt::format("    \"{}\") words=\"{}\" ;;\n", command.path, fmt::join(command.words(), " "));
    for (const auto& [before, values] : command.values()) {
      choices += fmt::format(
          "    \"{} {}\") [[ $word == -* ]] || {{ COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return; }} "
          ";;\n",
          command.path, before, fmt::join(values, " "));
    }
  }
  return fmt::format(R"(# Completion of synth for bash. Load it with: source <(synth completion bash)
_synth() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} path="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case "$path $previous" in
{}  esac
  case "$path" in
{}  esac
  case "$word" in
    -*) ;;
    *) case "$path" in ""|" bench") ;; *) words="" ;; esac ;;
  esac
  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _synth synth
)",
                     paths_pattern(commands), choices, words);
}

std::string zsh_script(const std::vector<OfferedCommand>& commands) {
  std::string cases;
  for (const OfferedCommand& command : commands) {
    std::string names, options, values;
    for (const CLI::App* sub : command.subcommands)
      names += " " + shell_quoted(sub->get_name() + ":" + sub->get_description());
    for (const OfferedOption& option : command.options)
      options += " " + shell_quoted(option.name + ":" + option.help);
    for (const auto& [before, words] : command.values()) {
      values += fmt::format("        {}) [[ ${{words[CURRENT]}} == -* ]] || {{ compadd -- {}; return }} ;;\n",
                            before, fmt::join(words, " "));
    }
    cases += fmt::format(
        "    \"{}\")\n      case $previous in\n{}        *) ;;\n      esac\n      names=({})\n      "
        "options=({}) ;;\n",
        command.path, values, names, options);
  }
  return fmt::format(R"(#compdef synth
# Completion of synth for zsh. Load it with: source <(synth completion zsh), after compinit.
_synth() {{
  local found="" previous=${{words[CURRENT - 1]}} i
  local -a names options
  for ((i = 2; i < CURRENT; i++)); do
    case "$found ${{words[i]}}" in
      {}) found+=" ${{words[i]}}" ;;
    esac
  done
  case "$found" in
{}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe option options
  elif (( ${{#names}} )); then
    _describe command names
  else
    _files
  fi
}}
compdef _synth synth
)",
                     paths_pattern(commands), cases);
}

std::string fish_script(const std::vector<OfferedCommand>& commands) {
  std::string script = "# Completion of synth for fish. Load it with: synth completion fish | source\n";
  for (const OfferedCommand& command : commands) {
    std::string condition = command.path.empty() ? "__fish_use_subcommand" : "";
    for (const std::string& part : CLI::detail::split(command.path, ' ')) {
      if (!part.empty())
        condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + part);
    }
    for (const CLI::App* sub : command.subcommands) {
      script += fmt::format("complete -c synth -f -n '{}' -a {} -d {}\n", condition, sub->get_name(),
                            fish_quoted(sub->get_description()));
    }
    if (!command.first_choices.empty()) {
      const std::string values = fmt::format("{}", fmt::join(command.first_choices, " "));
      script += fmt::format("complete -c synth -f -n '{}; and not __fish_seen_subcommand_from {}' -a '{}'\n",
                            condition, values, values);
    }
    for (const OfferedOption& option : command.options) {
      const std::string values =
          option.choices.empty() ? "" : fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      script += fmt::format("complete -c synth -n '{}' -l {}{} -d {}\n", condition, option.name.substr(2),
                            !values.empty()      ? values
                            : option.takes_value ? " -r"
                                                 : "",
                            fish_quoted(option.help));
    }
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& program) {
  auto* command = program.add_subcommand("completion", "print a shell completion script");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "the shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &program] {
    std::vector<OfferedCommand> commands;
    collect(program, "", commands);
    write_output(*shell == "bash"  ? bash_script(commands)
                 : *shell == "zsh" ? zsh_script(commands)
                                   : fish_script(commands));
  });
}

}  // namespace synthesizer::cli
