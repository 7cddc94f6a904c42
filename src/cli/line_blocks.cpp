#include "cli/line_blocks.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/choice_option.h"
#include "cli/number_checks.h"
#include "cli/print.h"
#include "text/lines.h"

namespace synthesizer::cli {
namespace {
constexpr size_t kLinesAtOnce = 4096;
constexpr int kPause = 20;  // milliseconds without a line after which those that came are answered
}  // namespace

void add_line_options(CLI::App& command, LineArguments& a) {
  command.add_option("--batch-tokens", a.batch_tokens, "maximum number of input tokens per batch")
      ->capture_default_str()
      ->check(at_least(1));
  add_choice(command, "--too-long", a.too_long, "lines over the model's maximum length: ");
}

void for_each_input_block(const InputBlockFunction& work) {
  LineReader input("-");
  std::vector<std::string> lines;
  int64_t done = 0;
  auto flush = [&] {
    std::vector<std::string> remarks;
    work(lines, done + 1, remarks);
    flush_output();
    for (const std::string& remark : remarks) print_note("synth: {}\n", remark);
    done += static_cast<int64_t>(lines.size());
    lines.clear();
  };
  for (std::string line; input.next(line);) {
    lines.push_back(line);
    if (lines.size() == kLinesAtOnce || !input.ready(kPause)) flush();
  }
  if (!lines.empty()) flush();
}

}  // namespace synthesizer::cli
