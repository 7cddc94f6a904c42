// synth convert: a run with another attention. Random tables as products of two factors, which are cheaper;
// or a trained attention as one member of a mixture, to train on from.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>

#include "attention/spec.h"
#include "base/error.h"
#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/dev_scores.h"
#include "cli/print.h"
#include "inspect/convert.h"
#include "inspect/extend_attention.h"
#include "inspect/new_run.h"
#include "model/prepare.h"

namespace synthesizer::cli {
namespace {

struct ConvertArguments {
  std::string run, to, attention, weights = "best";
  std::optional<int64_t> rank;
  bool no_text = false;
};

void print_conversion_errors(const Conversion& made) {
  TextTable table({"layer", "table", "relative error per head"});
  for (const ConvertedTable& one : made.tables) {
    std::string errors;
    for (const double error : one.errors)
      errors += fmt::format("{}{:.3f}", errors.empty() ? "" : "  ", error);
    table.add({one.layer, one.member, errors});
  }
  table.print(2);
}

/// The run's model with the other attention.
std::unique_ptr<Task> converted(const ConvertArguments& a, Task& task, const Dataset* dev) {
  if (parse_spec(a.attention).size() > 1) return extend_attention(task, a.attention, a.rank);
  Conversion made = factorize(task, a.rank.value(), dev);
  print_conversion_errors(made);
  return std::move(made.task);
}

void convert(const ConvertArguments& a, const std::vector<std::string>& command) {
  const auto members = parse_spec(a.attention);
  if (members.size() == 1 && members[0]->abbreviation != "FR") {
    invalid(fmt::format(
        "--attention is {}: it must be FR (factorized random), for tables, or a mixture that includes the "
        "present attention, such as R+V",
        a.attention));
  }
  if (members.size() == 1 && !a.rank) invalid("--rank is missing: give the inner width of the two factors");
  check_does_not_exist(a.to);
  const OpenRun open = open_run(a.run, a.weights);
  check_not_quantized(open.task->model(), a.run);
  const auto& files = open.task->recipe().data.dev;
  const auto dev = files.empty() ? nullptr : open.task->open(files, false);
  const auto made = converted(a, *open.task, dev.get());
  Scores after;
  if (dev) {
    const Scores before = dev_scores(*open.task, *dev, !a.no_text);
    after = dev_scores(*made, *dev, !a.no_text);
    print_scores(before, after);
  }
  write_new_run(a.to, *made, {"convert", a.run, command}, after);
  print_note("made {}; train it further with: synth train --init-from {} --run NEW\n", a.to,
             shell_quoted(a.to));
}

}  // namespace

void add_convert(CLI::App& program, const std::vector<std::string>& command_line) {
  auto* command =
      program.add_subcommand("convert", "convert a run's attention to low-rank factors, or to a mixture");
  auto a = std::make_shared<ConvertArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  command
      ->add_option("--attention", a->attention,
                   "FR, to factorize tables (R, Fix); or a mixture that includes the present attention, such "
                   "as R+V for V")
      ->required();
  command->add_option("--rank", a->rank, "rank of FR: the inner width of its two factors");
  command->add_option("--run", a->to, "folder of the new run")->required()->type_name("DIR");
  add_weights_option(*command, a->weights);
  command->add_flag("--no-text", a->no_text, "compare only loss and perplexity, without decoding");
  command->callback([a, command_line] { convert(*a, command_line); });
}

}  // namespace synthesizer::cli
