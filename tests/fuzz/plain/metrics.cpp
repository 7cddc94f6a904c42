#include "fuzz/targets.h"
#include "run/curves.h"
#include "run/metrics_log.h"

namespace synthesizer::fuzz {

void run_metrics(std::string_view input) {
  std::vector<Measurement> lines;
  if (!accepted("file", [&] { lines = parse_metrics("file", input); })) return;
  const int64_t middle = lines.empty() ? 0 : lines[lines.size() / 2].step;
  const std::string kept = metrics_until("file", input, middle);
  // What is kept is a log again, of just those lines, and keeping it once more changes nothing.
  size_t expected = 0;
  for (const Measurement& line : lines) expected += line.step <= middle ? 1 : 0;
  if (parse_metrics("file", kept).size() != expected) fault("lines are lost or added");
  if (metrics_until("file", kept, middle) != kept) fault("what is kept is cut again");
  const Curves curves = curves_of(lines);
  size_t sorted = 0;
  for (const auto& [split, of_split] : curves.splits) sorted += of_split.size();
  if (sorted > lines.size()) fault("curves have more points than the log");
}

}  // namespace synthesizer::fuzz
