#pragma once

#include "train/run_processes.h"

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// --processes and --timeout.
void add_process_options(CLI::App& command, ProcessOptions& options);

/// --workers: for commands that read lines, or evaluate.
void add_workers_option(CLI::App& command);

/// Whether the chosen command forks: who does must not share cores yet (runtime/core_sharing.h).
bool starts_processes(const CLI::App& program);

}  // namespace synthesizer::cli
