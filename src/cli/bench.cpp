// synth bench: one of its measurements. The peers are in ./run bench.

#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/bench.h"
#include "cli/command.h"

namespace synthesizer::cli {

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void add_bench(CLI::App& program) {
  auto* command = program.add_subcommand("bench", "measurements: attention, step");
  command->require_subcommand(1);
  add_bench_attention(*command);
  add_bench_step(*command);
}

}  // namespace synthesizer::cli
