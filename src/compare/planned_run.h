#pragma once

#include <string>
#include <vector>

#include "task/recipe.h"

namespace synthesizer {

/// One run of a comparison that is trained for it.
struct PlannedRun {
  enum class State { absent, interrupted, finished };

  std::string attention;             ///< as it was asked for: "R+V", "light-conv:7"
  Recipe recipe;                     ///< with that attention, and its seed
  std::vector<std::string> changes;  ///< over the recipe's file, for the record
  std::string folder;

  /// What there is of it already. Throws InvalidInput where the folder has a run of another recipe, or of
  /// data that have changed since: as `synth train --resume`, it names the file.
  State state() const;
};

/// The runs of a comparison: every attention with every seed (the recipe's own and those after it), one
/// folder each below `folder`. The attentions are separated by commas. Throws InvalidInput for a list that
/// has one twice, is empty, or names one that cannot be built, and for too many seeds, before anything is
/// trained.
std::vector<PlannedRun> planned_runs(const std::string& recipe, const std::vector<std::string>& changes,
                                     const std::string& attentions, int64_t seeds, const std::string& folder);

}  // namespace synthesizer
