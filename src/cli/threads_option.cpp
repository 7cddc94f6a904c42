#include "cli/threads_option.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "base/error.h"
#include "cli/number_checks.h"
#include "cli/process_options.h"
#include "runtime/core_sharing.h"
#include "runtime/threads.h"

namespace synthesizer::cli {
namespace {

constexpr const char* kThreadsOption = "--threads";

/// To the command, or to its subcommands where it has some: those do the work.
void add_threads_option_below(CLI::App& command, std::optional<int64_t>& threads) {
  const auto subcommands = command.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* subcommand : subcommands) add_threads_option_below(*subcommand, threads);
  if (!subcommands.empty()) return;
  command.add_option(kThreadsOption, threads, "number of threads (default: the cores this process may use)")
      ->check(between(1, kMaxThreads));
}

}  // namespace

void add_threads_option(CLI::App& program) {
  auto threads = std::make_shared<std::optional<int64_t>>();  // one for all: only one command is chosen
  add_threads_option_below(program, *threads);
  // The program's callback runs after everything is parsed and before the callback of the chosen command.
  program.parse_complete_callback([threads, &program] {
    use_threads(*threads ? **threads : usable_cores());
    if (!starts_processes(program)) share_cores();
  });
}

std::vector<std::string> with_threads(const CLI::App& command, std::vector<std::string> changes) {
  if (command.count(kThreadsOption) == 0) return changes;
  const auto threads = command[kThreadsOption]->as<int64_t>();
  const std::string setting = fmt::format("train.threads={}", threads);
  for (const std::string& change : changes) {
    std::string plain = change;
    std::erase(plain, ' ');
    if (!plain.starts_with("train.threads=") || plain == setting) continue;
    invalid(fmt::format("--threads {} and --set {} contradict each other: give only one of them", threads,
                        change));
  }
  changes.push_back(setting);
  return changes;
}

}  // namespace synthesizer::cli
