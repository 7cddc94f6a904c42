#include "cli/process_options.h"

#include <CLI/CLI.hpp>

#include "runtime/workers.h"

namespace synthesizer::cli {
namespace {
constexpr const char* kProcesses = "--processes";
}

void add_process_options(CLI::App& command, ProcessOptions& options) {
  command.add_option(kProcesses, options.processes,
                     "number of processes on this machine, which share the batches of every step");
  command
      .add_option("--timeout", options.timeout,
                  "seconds without a sign of life until a process counts as lost")
      ->capture_default_str();
}

void add_workers_option(CLI::App& command) {
  command.add_option_function<int64_t>(
      "--workers", use_workers, "number of thread groups that work in parallel, on one model (default: 1)");
}

bool starts_processes(const CLI::App& program) {
  if (program.got_subcommand("compare")) return true;
  return program.got_subcommand("train") && program.get_subcommand("train")->count(kProcesses) > 0;
}

}  // namespace synthesizer::cli
