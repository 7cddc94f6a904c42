#pragma once

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// Adds --quiet to every command of the program: no progress and no remarks on standard error. Call it after
/// all commands were added.
void add_quiet_option(CLI::App& program);

}  // namespace synthesizer::cli
