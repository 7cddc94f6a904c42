#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/metrics_log.h"

namespace synthesizer {

/// All measurements of a run by what was measured: "train", "dev", "mixture".
struct Curves {
  std::vector<std::pair<std::string, std::vector<Measurement>>> splits;

  /// Empty where the run has no such split.
  const std::vector<Measurement>& of(const std::string& split) const;
  int64_t last_step() const;
};

Curves curves_of(std::vector<Measurement> lines);

/// The file as it is, also of a run that is writing it (parse_metrics); no file is no measurements.
Curves read_curves(const std::string& path);

}  // namespace synthesizer
