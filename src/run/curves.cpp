#include "run/curves.h"

#include <algorithm>
#include <filesystem>

namespace synthesizer {

const std::vector<Measurement>& Curves::of(const std::string& split) const {
  static const std::vector<Measurement> none;
  for (const auto& [name, lines] : splits) {
    if (name == split) return lines;
  }
  return none;
}

int64_t Curves::last_step() const {
  int64_t last = 0;
  for (const auto& [name, lines] : splits) {
    for (const Measurement& line : lines) last = std::max(last, line.step);
  }
  return last;
}

Curves curves_of(std::vector<Measurement> lines) {
  Curves curves;
  for (Measurement& line : lines) {
    auto found = std::find_if(curves.splits.begin(), curves.splits.end(),
                              [&](const auto& known) { return known.first == line.split; });
    if (found == curves.splits.end()) found = curves.splits.insert(found, {line.split, {}});
    found->second.push_back(std::move(line));
  }
  return curves;
}

Curves read_curves(const std::string& path) {
  return std::filesystem::exists(path) ? curves_of(MetricsLog::read(path)) : Curves();
}

}  // namespace synthesizer
