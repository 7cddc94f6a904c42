#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"

namespace synthesizer {

/// Rows of numbers by name: how each layer weighs the members of its mixture, one row, or one a head.
using MetricRows = std::vector<std::pair<std::string, std::vector<std::vector<double>>>>;

/// What was measured at a step: a line of metrics.jsonl.
struct Metrics {
  int64_t step = 0;
  std::string split;  ///< "train", "dev", "mixture", …
  std::vector<std::pair<std::string, double>> values;
  MetricRows rows;  ///< where the split is "mixture"
};

/// metrics.jsonl: one JSON object a line, step and split first, then the values in their order. Numbers that
/// are not finite are written as null and read as NaN.
class MetricsLog {
 public:
  /// Adds to what is there. Where a run is resumed, drop_after comes first.
  explicit MetricsLog(const std::string& path) : log_(path) {}

  void add(int64_t step, const std::string& split, const std::vector<std::pair<std::string, double>>& values);

  /// The same for rows: a list of numbers, or a list of lists where there are several.
  void add_rows(int64_t step, const std::string& split, const MetricRows& rows);

  /// Keeps the lines of steps up to that one, atomically, and drops a last line that a kill has torn. No file
  /// is fine. Throws InvalidInput, "PATH:LINE: …", for a line that is no metrics.
  static void drop_after(const std::string& path, int64_t step);

  /// All lines but a torn last one. Throws InvalidInput as above, and where there is no file.
  static std::vector<Metrics> read(const std::string& path);

 private:
  LineLog log_;
};

}  // namespace synthesizer
