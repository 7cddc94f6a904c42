// synth bench: one of its measurements. The peers are in ./run bench.

#include <CLI/CLI.hpp>

#include "cli/bench.h"
#include "cli/command.h"

namespace synthesizer::cli {

void add_bench(CLI::App& program) {
  auto* command =
      program.add_subcommand("bench", "measure the speed of attention layers, training steps or decoding");
  command->require_subcommand(1);
  add_bench_attention(*command);
  add_bench_step(*command);
  add_bench_decode(*command);
}

}  // namespace synthesizer::cli
