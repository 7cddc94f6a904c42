#include "cli/quiet_option.h"

#include <CLI/CLI.hpp>

#include "base/output.h"

namespace synthesizer::cli {

void add_quiet_option(CLI::App& program) {
  const auto subcommands = program.get_subcommands([](const CLI::App*) { return true; });
  for (CLI::App* subcommand : subcommands) add_quiet_option(*subcommand);
  if (!subcommands.empty()) return;
  program.add_flag_callback("--quiet", be_quiet,
                            "print no progress and no remarks on standard error, only errors");
}

}  // namespace synthesizer::cli
