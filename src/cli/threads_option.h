#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// Adds --threads to every command of the program. Call it after all commands were added. Before the chosen
/// command runs, the program is set to use that many threads; without --threads, usable_cores().
void add_threads_option(CLI::App& program);

/// The changes of --set, with --threads of the command as a change of train.threads. Throws InvalidInput
/// where
/// --set gives another number of threads than --threads.
std::vector<std::string> with_threads(const CLI::App& command, std::vector<std::string> changes);

}  // namespace synthesizer::cli
