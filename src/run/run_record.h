#pragma once

#include <algorithm>
#include <optional>

#include "run/curves.h"
#include "run/parameter_count.h"
#include "run/provenance.h"
#include "run/settings.h"

namespace synthesizer {

/// What the folder of a run says of it, finished or not, without loading the model. (A report must open for
/// a run whose weights are gone, and a comparison of twenty must not take twenty models' memory.)
struct RunRecord {
  std::string path;
  std::string name;  ///< of the folder
  Settings settings;
  Curves curves;
  std::optional<ParameterCount> parameters;  ///< none before there are weights
  bool quantized = false;                    ///< its weights are int8 or bfloat16: it cannot be trained
  Provenance provenance;                     ///< empty where the run has no run.json
  std::optional<int64_t> saved;  ///< the step that it would be resumed from; none without a readable state

  std::string task() const { return setting(settings, "task"); }
  /// "R+V"; where layers or sides differ, all of them: "V, R" or "encoder R, decoder V".
  std::string attention() const;
  int64_t steps() const { return curves.last_step(); }  ///< with a measurement
  /// The step it has got to: a state may be saved between two measurements.
  int64_t reached() const { return std::max(steps(), saved.value_or(0)); }
  /// Whether it trained as many steps as it was to, or ended earlier for want of something better.
  bool finished() const;

  /// The validation whose weights the run keeps: of the best score watched, the first of equals.
  /// None where no score is a finite number.
  const Measurement* best() const;
  double seconds() const;  ///< of training
  /// The median over the training lines: an interruption or a busy minute does not show in it.
  std::optional<double> tokens_per_second() const;
};

/// Throws InvalidInput where the folder is not a run folder, and where one of its files is damaged.
RunRecord read_run(const std::string& folder);

/// Throws InvalidInput where the run has not finished a step that was measured: there is nothing to compare.
void check_has_steps(const RunRecord& run);

/// Whether less of it is better: losses, perplexities, times, sizes.
bool lower_is_better(std::string_view score);

}  // namespace synthesizer
