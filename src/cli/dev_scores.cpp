#include "cli/dev_scores.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/print.h"

namespace synthesizer::cli {

Scores dev_scores(Task& task, const Dataset& dev, bool texts) {
  DecodeOptions greedy = task.recipe().decode;
  greedy.beam = 1;
  return task.evaluate(dev, texts, greedy).scores;
}

void print_scores(const Scores& before, const Scores& after) {
  TextTable table({"dev", "before", "after"});
  for (size_t n = 0; n < before.size(); ++n) {
    if (is_count(before[n].first)) continue;
    table.add(
        {before[n].first, fmt::format("{:.4f}", before[n].second), fmt::format("{:.4f}", after[n].second)});
  }
  print_out("\n");
  table.print(1);
}

}  // namespace synthesizer::cli
