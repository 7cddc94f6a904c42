// synth classify: a label for each line of standard input.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/line_blocks.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

struct ClassifyArguments {
  std::string run, weights = "best";
  LineArguments lines;
  bool json = false;
};

void print_label(const ClassifyArguments& a, const Labeller& labeller, const Classified& found) {
  if (!a.json) return fmt::print("{}\n", found.label);
  nlohmann::ordered_json object = {{"label", found.label}};
  for (size_t i = 0; i < labeller.labels().size(); ++i)
    object["probabilities"][labeller.labels()[i]] = found.probabilities[i];
  fmt::print("{}\n", object.dump());
}

void classify(const ClassifyArguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  auto* labeller = dynamic_cast<Labeller*>(open.task.get());
  if (!labeller) invalid(fmt::format("{} is a {} run: it has no classes", a.run, open.task->recipe().task));
  const LongLine too_long = a.lines.truncates() ? LongLine::truncate : LongLine::error;
  for_lines_of_input([&](const auto& lines, int64_t first, auto& remarks) {
    for (const Classified& found : labeller->classify(lines, a.lines.batch_tokens, too_long, first, remarks))
      print_label(a, *labeller, found);
  });
}

}  // namespace

void add_classify(CLI::App& program) {
  auto* command = program.add_subcommand("classify", "a label for each line of standard input");
  auto a = std::make_shared<ClassifyArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  add_line_options(*command, a->lines);
  add_weights_option(*command, a->weights);
  command->add_flag("--json", a->json, "a JSON object a line: the label, and how likely each is");
  command->callback([a] { classify(*a); });
}

}  // namespace synthesizer::cli
