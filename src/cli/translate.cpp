// synth translate: standard input to standard output, line by line.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "cli/line_blocks.h"
#include "task/run.h"

namespace synthesizer::cli {
namespace {

struct TranslateArguments {
  std::string run, weights = "best";
  DecodeArguments decode;
  LineArguments lines;
  int64_t nbest = 1;
  bool scores = false;
};

void print_translations(const TranslateArguments& a, size_t line, const std::vector<Translation>& best) {
  for (const Translation& t : best) {
    if (a.nbest > 1) {
      fmt::print("{} ||| {} ||| {:.4f}\n", line, t.text, t.score);
    } else if (a.scores) {
      fmt::print("{:.4f}\t{}\n", t.score, t.text);
    } else {
      fmt::print("{}\n", t.text);
    }
  }
}

void translate(const TranslateArguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  auto* translator = dynamic_cast<Translator*>(open.task.get());
  if (!translator) {
    invalid(
        fmt::format("{} is a {} run: it does not turn one text into another (synth generate goes on from "
                    "a text, synth classify names its class)",
                    a.run, open.task->recipe().task));
  }
  DecodeOptions options = a.decode.over(open.task->recipe().decode);
  options.nbest = a.nbest;
  check(options);
  const LongLine too_long = a.lines.truncates() ? LongLine::truncate : LongLine::error;
  for_lines_of_input([&](const auto& lines, int64_t first, auto& remarks) {
    const auto results =
        translator->translate(lines, options, a.lines.batch_tokens, too_long, first, remarks);
    for (size_t i = 0; i < results.size(); ++i)
      print_translations(a, static_cast<size_t>(first) - 1 + i, results[i]);
  });
}

}  // namespace

void add_translate(CLI::App& program) {
  auto* command = program.add_subcommand("translate", "standard input to standard output, line by line");
  auto a = std::make_shared<TranslateArguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  add_decode_options(*command, a->decode);
  command->add_option("--nbest", a->nbest, "print the n best of each line: LINE ||| TEXT ||| SCORE")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--scores", a->scores, "print each line's score before it");
  add_line_options(*command, a->lines);
  add_weights_option(*command, a->weights);
  command->callback([a] { translate(*a); });
}

}  // namespace synthesizer::cli
