// synth translate: standard input to standard output, line by line.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "cli/decode_options.h"
#include "task/run.h"
#include "text/lines.h"

namespace synthesizer::cli {
namespace {

/// Lines that are read before the first is written: enough to sort them by length.
constexpr size_t kLinesAtOnce = 4096;

struct Arguments {
  std::string run, weights = "best", too_long = "truncate";
  DecodeArguments decode;
  int64_t nbest = 1, batch_tokens = 4096;
  bool scores = false;
};

void print(const Arguments& a, size_t line, const std::vector<Translation>& best) {
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

void run(const Arguments& a) {
  const OpenRun open = open_run(a.run, a.weights);
  auto* translator = dynamic_cast<Translator*>(open.task.get());
  if (!translator) {
    invalid(fmt::format(
        "{} is a {} run: it goes on from a text (synth generate), it does not turn one into another", a.run,
        open.task->recipe().task));
  }
  DecodeOptions options = a.decode.over(open.task->recipe().decode);
  options.nbest = a.nbest;
  check(options);
  const LongLine too_long = a.too_long == "error" ? LongLine::error : LongLine::truncate;
  LineReader input("-");
  std::vector<std::string> lines;
  size_t done = 0;
  auto flush = [&] {
    std::vector<std::string> remarks;
    const auto results = translator->translate(lines, options, a.batch_tokens, too_long,
                                               static_cast<int64_t>(done) + 1, remarks);
    for (const std::string& remark : remarks) fmt::print(stderr, "synth: {}\n", remark);
    for (size_t i = 0; i < results.size(); ++i) print(a, done + i, results[i]);
    std::fflush(stdout);
    done += lines.size();
    lines.clear();
  };
  for (std::string line; input.next(line);) {
    lines.push_back(line);
    if (lines.size() == kLinesAtOnce) flush();
  }
  flush();
}

}  // namespace

void add_translate(CLI::App& program) {
  auto* command = program.add_subcommand("translate", "standard input to standard output, line by line");
  auto a = std::make_shared<Arguments>();
  command->add_option("RUN", a->run, "its folder")->required();
  add_decode_options(*command, a->decode);
  command->add_option("--nbest", a->nbest, "print the n best of each line: LINE ||| TEXT ||| SCORE")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--scores", a->scores, "print each line's score before it");
  command->add_option("--batch-tokens", a->batch_tokens, "source tokens decoded at a time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--too-long", a->too_long, "lines longer than the model can take: truncate or error")
      ->capture_default_str()
      ->check(CLI::IsMember({"truncate", "error"}));
  add_weights_option(*command, a->weights);
  command->callback([a] { run(*a); });
}

}  // namespace synthesizer::cli
