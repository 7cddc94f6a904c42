// synth grow: increases a run's maximum length.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/print.h"
#include "inspect/grow_run.h"
#include "inspect/new_run.h"
#include "model/prepare.h"

namespace synthesizer::cli {
namespace {

struct GrowArguments {
  std::string run, to, weights = "best";
  int64_t max_length = 0;
};

void grow(const GrowArguments& a, const std::vector<std::string>& command) {
  check_does_not_exist(a.to);
  const OpenRun open = open_run(a.run, a.weights);
  check_not_quantized(open.task->model(), a.run);
  const auto larger = grown_task(*open.task, a.max_length);
  write_new_run(a.to, *larger, {"grow", a.run, command}, {});
  print_note(
      "{} has a maximum length of {} tokens instead of {}; positions beyond the old length are untrained "
      "(continue with synth train --init-from {} --run NEW)\n",
      a.to, a.max_length, open.task->recipe().model.max_length, shell_quoted(a.to));
  print_out("{}\n", a.to);
}

}  // namespace

void add_grow(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("grow", "increase a run's maximum length");
  auto a = std::make_shared<GrowArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command->add_option("--max-length", a->max_length, "new maximum length, in tokens")->required();
  command->add_option("--run", a->to, "folder of the new run")->required()->type_name("DIR");
  add_weights_option(*command, a->weights);
  command->callback([a, command_line] { grow(*a, command_line); });
}

}  // namespace synthesizer::cli
