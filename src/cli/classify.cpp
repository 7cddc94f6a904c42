// synth classify: prints a label for each line of standard input.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/line_blocks.h"
#include "cli/print.h"
#include "cli/process_options.h"
#include "cli/unknown_input.h"
#include "cli/wrong_task.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

struct ClassifyArguments {
  std::string run, weights = "best";
  LineArguments lines;
  bool json = false;
};

void print_label(const ClassifyArguments& a, const TextClassifier& classifier,
                 const ClassificationResult& found) {
  if (!a.json) return print_out("{}\n", found.label);
  nlohmann::ordered_json object = {{"label", found.label}};
  for (size_t i = 0; i < classifier.labels().size(); ++i)
    object["probabilities"][classifier.labels()[i]] = found.probabilities[i];
  print_out("{}\n", object.dump());
}

void classify(const ClassifyArguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  auto* classifier = dynamic_cast<TextClassifier*>(open.task.get());
  if (!classifier) wrong_task(a.run, *open.task, "has no classes");
  UnknownInput unknown(*open.task->tokenizers().source);
  for_each_input_block([&](const auto& lines, int64_t first, auto& remarks) {
    unknown.add(lines, first);
    for (const ClassificationResult& found :
         classifier->classify(lines, a.lines.batch_tokens, a.lines.too_long, first, remarks))
      print_label(a, *classifier, found);
  });
  unknown.report(a.run);
}

}  // namespace

void add_classify(CLI::App& program) {
  auto* command = program.add_subcommand("classify", "print a label for each line of standard input");
  auto a = std::make_shared<ClassifyArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  add_line_options(*command, a->lines);
  add_workers_option(*command);
  add_weights_option(*command, a->weights);
  command->add_flag("--json", a->json,
                    "print one JSON object per line: the label and the probability of each label");
  command->callback([a] { classify(*a); });
}

}  // namespace synthesizer::cli
