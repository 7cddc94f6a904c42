// synth average: averages a run's last checkpoints.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "base/error.h"
#include "cli/command.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "run/run_folder.h"
#include "run/run_lock.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace synthesizer::cli {
namespace {

void average(const std::string& path, int64_t last) {
  const RunFolder folder{path};
  folder.check_is_run();
  std::optional<RunLock> lock;
  if (!folder.checkpoint_steps().empty())
    lock.emplace(path, std::vector<std::string>{"synth", "average", path});
  auto steps = folder.checkpoint_steps();
  if (steps.empty()) invalid(fmt::format("{} has no checkpoints: train with train.keep at least 1", path));
  if (last > static_cast<int64_t>(steps.size())) {
    invalid(fmt::format("{} has {} checkpoints, not {}: train with a larger train.keep", path, steps.size(),
                        last));
  }
  if (last > 0) steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(last));
  std::vector<std::string> files;
  for (const int64_t step : steps) files.push_back(folder.checkpoint(step));
  auto metadata = TensorFile(files.back()).metadata();
  metadata["averaged"] = fmt::format("{}", fmt::join(steps, " "));
  folder.remove_leftovers();
  save_tensors(folder.averaged(), average_weights(files), metadata);
  print_note("averaged the checkpoints of steps {}; use the result with --weights averaged\n",
             fmt::join(steps, ", "));
  print_out("{}\n", folder.averaged());
}

}  // namespace

void add_average(CLI::App& program) {
  auto* command = program.add_subcommand("average", "average a run's last checkpoints");
  auto path = std::make_shared<std::string>();
  auto last = std::make_shared<int64_t>(0);
  command->add_option("RUN", *path, "the run's folder")->required();
  command->add_option("--last", *last, "number of checkpoints (default: all that are kept)")
      ->check(at_least(1));
  command->callback([=] { average(*path, *last); });
}

}  // namespace synthesizer::cli
