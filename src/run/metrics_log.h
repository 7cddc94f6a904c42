#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"

namespace synthesizer {

/// Rows of numbers by name: how each layer weighs the members of its mixture, one row, or one per head.
using MetricRows = std::vector<std::pair<std::string, std::vector<std::vector<double>>>>;

/// What was measured at a step: a line of metrics.jsonl.
struct Measurement {
  int64_t step = 0;
  std::string split;   ///< "train", "dev", "mixture", …
  double seconds = 0;  ///< of training until then; a validation has those of the training line before it
  std::vector<std::pair<std::string, double>> values;  ///< not a number where the file has null
  MetricRows rows;                                     ///< where the split is "mixture"

  std::optional<double> value(const std::string& key) const;
};

/// The lines of a metrics.jsonl, also of a run that is writing it: a last line that has no end and is not
/// whole is left out. `name` is the file's name for messages. Throws InvalidInput, "NAME:LINE: …", for any
/// other line that is not an object with a step, a split, and numbers, null or lists of them.
std::vector<Measurement> parse_metrics(const std::string& name, std::string_view text);

/// The lines of steps up to that one, as they stand, without a torn last line. Throws as parse_metrics.
std::string metrics_until(const std::string& name, std::string_view text, int64_t step);

/// metrics.jsonl: one JSON object a line, step and split first, then the values in their order. Numbers that
/// are not finite are written as null and read as NaN.
class MetricsLog {
 public:
  /// Adds to what is there. Where a run is resumed, drop_after comes first.
  explicit MetricsLog(const std::string& path) : log_(path) {}

  void add(int64_t step, const std::string& split, const std::vector<std::pair<std::string, double>>& values);

  /// The same for rows: a list of numbers, or a list of lists where there are several.
  void add_rows(int64_t step, const std::string& split, const MetricRows& rows);

  /// Keeps the lines of metrics_until, atomically. No file is fine. Throws as parse_metrics.
  static void drop_after(const std::string& path, int64_t step);

  /// The lines of the file. Throws as parse_metrics, and where there is no file.
  static std::vector<Measurement> read(const std::string& path);

 private:
  LineLog log_;
};

}  // namespace synthesizer
