#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "task/task.h"

namespace CLI {
class App;
}

namespace synthesizer::cli {

/// How lines of standard input are taken by the commands that give a line for each.
struct LineArguments {
  LongLine too_long = LongLine::truncate;
  int64_t batch_tokens = 4096;
};
void add_line_options(CLI::App& command, LineArguments& arguments);

/// Calls `work` with the lines of standard input and the number of the first of them, from 1: some thousands
/// at a time so that they can be sorted by length, or those that have come so far where whoever writes them
/// pauses, so that a program or a person can wait for the answer to a line. What it prints is flushed; what
/// it appends to `remarks` goes to standard error.
using InputBlockFunction = std::function<void(const std::vector<std::string>& lines, int64_t first,
                                              std::vector<std::string>& remarks)>;
void for_each_input_block(const InputBlockFunction& work);

}  // namespace synthesizer::cli
