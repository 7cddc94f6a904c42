// synth convert: a run with random tables as a cheaper one, its tables as products of two factors.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "attention/registry.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/dev_scores.h"
#include "cli/print.h"
#include "inspect/convert.h"
#include "inspect/new_run.h"
#include "model/prepare.h"

namespace synthesizer::cli {
namespace {

struct ConvertArguments {
  std::string run, to, attention, weights = "best";
  int64_t rank = 0;
  bool no_text = false;
};

void print_conversion_errors(const Conversion& made) {
  TextTable table({"layer", "table", "error a head, of its size"});
  for (const ConvertedTable& one : made.tables) {
    std::string errors;
    for (const double error : one.errors)
      errors += fmt::format("{}{:.3f}", errors.empty() ? "" : "  ", error);
    table.add({one.layer, one.member, errors});
  }
  table.print(2);
}

void convert(const ConvertArguments& a, const std::vector<std::string>& command) {
  if (find_variant(a.attention).abbreviation != "FR") {
    invalid(fmt::format("--attention is {}: tables can be converted to FR, the factorized random one",
                        a.attention));
  }
  check_does_not_exist(a.to);
  const OpenRun open = open_run(a.run, a.weights);
  check_not_quantized(open.task->model(), a.run);
  const auto& files = open.task->recipe().data.dev;
  const auto dev = files.empty() ? nullptr : open.task->open(files, false);
  const Conversion made = factorize(*open.task, a.rank, dev.get());
  print_conversion_errors(made);
  Scores after;
  if (dev) {
    const Scores before = dev_scores(*open.task, *dev, !a.no_text);
    after = dev_scores(*made.task, *dev, !a.no_text);
    print_scores(before, after);
  }
  write_new_run(a.to, *made.task, {"convert", a.run, command}, after);
  print_note("made {}; train it further with: synth train --init-from {} --run NEW\n", a.to, a.to);
}

}  // namespace

void add_convert(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command = program.add_subcommand("convert", "replace random tables by their best low-rank factors");
  auto a = std::make_shared<ConvertArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  command->add_option("--attention", a->attention, "what tables (R, Fix) become: FR")->required();
  command->add_option("--rank", a->rank, "inner width of the two factors")->required();
  command->add_option("--run", a->to, "the folder of the new run")->required()->type_name("DIR");
  add_weights_option(*command, a->weights);
  command->add_flag("--no-text", a->no_text,
                    "compare loss and perplexity alone: write nothing, score nothing");
  command->callback([a, command_line] { convert(*a, command_line); });
}

}  // namespace synthesizer::cli
