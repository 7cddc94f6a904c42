#include "cli/line_blocks.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "text/lines.h"

namespace synthesizer::cli {
namespace {
constexpr size_t kLinesAtOnce = 4096;
}

void add_line_options(CLI::App& command, LineArguments& a) {
  command.add_option("--batch-tokens", a.batch_tokens, "tokens of the input worked on at a time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--too-long", a.too_long, "lines longer than the model can take: truncate or error")
      ->capture_default_str()
      ->check(CLI::IsMember({"truncate", "error"}));
}

void for_lines_of_input(const LineWork& work) {
  LineReader input("-");
  std::vector<std::string> lines;
  int64_t done = 0;
  auto flush = [&] {
    std::vector<std::string> remarks;
    work(lines, done + 1, remarks);
    std::fflush(stdout);
    for (const std::string& remark : remarks) fmt::print(stderr, "synth: {}\n", remark);
    done += static_cast<int64_t>(lines.size());
    lines.clear();
  };
  for (std::string line; input.next(line);) {
    lines.push_back(line);
    if (lines.size() == kLinesAtOnce) flush();
  }
  flush();
}

}  // namespace synthesizer::cli
