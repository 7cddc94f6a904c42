#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/mixer.h"
#include "attention/options.h"

namespace synthesizer {

/// A baseline that the paper compares with: a layer that combines positions without an L×L matrix of logits.
/// Baselines use the same `attention` key as the variants and cannot be part of a mixture.
///
/// A size can follow the name, "light-conv:15" (kernel width) or "linformer:64" (rank), so that each layer in
/// a list can have its own.
struct Baseline {
  std::string name;        ///< "light-conv"
  std::string help;        ///< in a few words, with the paper
  bool causal;             ///< it can be, and then it can decode step by step
  std::string parameters;  ///< that make its weights, all heads, as a formula
  std::string size;        ///< the option that a number behind the name sets
  std::vector<OptionInfo> options;
  std::function<std::unique_ptr<Mixer>(AttentionOptions)> make;  ///< from options with the size among them
};

/// All of them, in the order of the paper's tables.
const std::vector<Baseline>& baselines();

/// A baseline as written in a spec, with its size if one was given.
struct NamedBaseline {
  const Baseline* baseline;
  std::optional<int64_t> size;

  std::string spec() const;  ///< "light-conv:15", or "light-conv" where no size was written
};

/// The baseline that a spec names, letter case aside; nothing where it names no baseline. A size that is no
/// whole number is an error.
std::optional<NamedBaseline> find_baseline(std::string_view spec);

}  // namespace synthesizer
