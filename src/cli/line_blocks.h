#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// How lines of standard input are taken by the commands that give a line for each.
struct LineArguments {
  std::string too_long = "truncate";
  int64_t batch_tokens = 4096;

  bool truncates() const { return too_long == "truncate"; }
};
void add_line_options(CLI::App& command, LineArguments& arguments);

/// Calls `work` with the lines of standard input, some thousands at a time so that they can be sorted by
/// length, and with the number of the first of them, from 1. What it prints is flushed; what it appends to
/// `remarks` goes to standard error.
using LineWork = std::function<void(const std::vector<std::string>& lines, int64_t first,
                                    std::vector<std::string>& remarks)>;
void for_lines_of_input(const LineWork& work);

}  // namespace synthesizer::cli
