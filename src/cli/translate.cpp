// synth translate: translates, summarizes or answers standard input, line by line.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/line_blocks.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "cli/process_options.h"
#include "cli/unknown_input.h"
#include "cli/wrong_task.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

struct TranslateArguments {
  std::string run, weights = "best";
  DecodeArguments decode;
  LineArguments lines;
  bool scores = false;
};

void print_translations(const TranslateArguments& a, bool several, size_t line,
                        const std::vector<Translation>& best) {
  for (const Translation& t : best) {
    if (several) {
      print_out("{} ||| {} ||| {:.4f}\n", line, t.text, t.score);
    } else if (a.scores) {
      print_out("{:.4f}\t{}\n", t.score, t.text);
    } else {
      print_out("{}\n", t.text);
    }
  }
}

void translate(const TranslateArguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  auto* translator = dynamic_cast<Translator*>(open.task.get());
  if (!translator) wrong_task(a.run, *open.task, "does not turn one text into another");
  const DecodeOptions options = a.decode.over(open.task->recipe().decode);
  UnknownInput unknown(*open.task->tokenizers().source);
  for_each_input_block([&](const auto& lines, int64_t first, auto& remarks) {
    unknown.add(lines, first);
    const auto results =
        translator->translate(lines, options, a.lines.batch_tokens, a.lines.too_long, first, remarks);
    for (size_t i = 0; i < results.size(); ++i)
      print_translations(a, options.nbest > 1, static_cast<size_t>(first) - 1 + i, results[i]);
  });
  unknown.report(a.run);
}

}  // namespace

void add_translate(CLI::App& program) {
  auto* command =
      program.add_subcommand("translate", "translate, summarize or answer each line of standard input");
  auto a = std::make_shared<TranslateArguments>();
  command->add_option("RUN", a->run, "the run's folder")->required();
  a->decode.add_to(*command, DecodeOption::Use::search);
  a->decode.add_to(*command, DecodeOption::Use::output, /*defaults=*/true);
  command->get_option("--nbest")
      ->check(at_least(1))
      ->description("number of outputs per line; above 1, print LINE ||| TEXT ||| SCORE");
  command->add_flag("--scores", a->scores, "print the score before each output");
  add_line_options(*command, a->lines);
  add_workers_option(*command);
  add_weights_option(*command, a->weights);
  command->callback([a] { translate(*a); });
}

}  // namespace synthesizer::cli
