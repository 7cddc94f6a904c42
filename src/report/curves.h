#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace synthesizer {

/// What was measured at one step of a run: a line of metrics.jsonl.
struct Measurement {
  int64_t step = 0;
  double seconds = 0;  ///< of training until then; a validation has those of the training line before it
  std::vector<std::pair<std::string, double>> values;  ///< not a number where the file has null
  /// Lists of numbers by name, a list of lists for one a head: the weights of mixtures.
  std::vector<std::pair<std::string, std::vector<std::vector<double>>>> rows;

  std::optional<double> value(const std::string& key) const;
};

/// All measurements of a run by what was measured: "train", "dev", "mixture".
struct Curves {
  std::vector<std::pair<std::string, std::vector<Measurement>>> splits;

  /// Empty where the run has no such split.
  const std::vector<Measurement>& of(const std::string& split) const;
  int64_t last_step() const;
};

/// The file as it is, also of a run that is writing it: no file is no measurements, and a last line without
/// its end is left out. Throws InvalidInput, "PATH:LINE: …", for a whole line that is no measurement.
Curves read_curves(const std::string& path);

}  // namespace synthesizer
