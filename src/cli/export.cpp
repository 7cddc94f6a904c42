// synth export: a run as others use it: recipe, tokenizers and weights, and the weights smaller where asked.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/dev_scores.h"
#include "cli/print.h"
#include "inspect/new_run.h"
#include "model/prepare.h"

namespace synthesizer::cli {
namespace {

struct ExportArguments {
  std::string run, to, quantize, weights = "best";
  bool no_text = false, no_scores = false;
};

double megabytes(const std::string& file) {
  return static_cast<double>(std::filesystem::file_size(file)) / 1e6;
}

void export_run(const ExportArguments& a, const std::vector<std::string>& command) {
  check_does_not_exist(a.to);
  const OpenRun open = open_run(a.run, a.weights);
  Task& task = *open.task;
  check_not_quantized(task.model(), a.run);
  Scores after;
  if (!a.quantize.empty()) {
    const auto& files = task.recipe().data.dev;
    const auto dev = files.empty() || a.no_scores ? nullptr : task.open(files, false);
    Scores before;
    if (dev) before = dev_scores(task, *dev, !a.no_text);
    quantize(task.model(), a.quantize);
    if (dev) print_scores(before, after = dev_scores(task, *dev, !a.no_text));
  }
  write_new_run(a.to, task, {"export", a.run, command}, after);
  print_note("made {}; its weights have {:.1f} MB\n", a.to, megabytes(RunFolder{a.to}.model()));
}

}  // namespace

void add_export(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command =
      program.add_subcommand("export", "a run as others use it, with smaller weights where asked");
  auto a = std::make_shared<ExportArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  command->add_option("--run", a->to, "the folder of the new run")->required()->type_name("DIR");
  command->add_option("--quantize", a->quantize, "int8: a quarter of the memory, faster, not to be trained")
      ->check(CLI::IsMember({"int8"}));
  add_weights_option(*command, a->weights);
  command->add_flag("--no-scores", a->no_scores, "do not compare the two on dev");
  command->add_flag("--no-text", a->no_text,
                    "compare loss and perplexity alone: write nothing, score nothing");
  command->callback([a, command_line] { export_run(*a, command_line); });
}

}  // namespace synthesizer::cli
