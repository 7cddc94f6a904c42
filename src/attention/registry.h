#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attention/options.h"
#include "attention/synthesis.h"

namespace synthesizer {

/// One line of the registry: what a synthesizing function is called, what it can do, how it is made.
/// Help, docs, tests, benchmarks and Python all read this list; there is no second one.
struct Variant {
  enum class Tokens { all, own, none };

  std::string name;          ///< "factorized-random"
  std::string abbreviation;  ///< "FR", also its name among the parameters
  Tokens tokens;             ///< which tokens row i of S depends on
  bool interacts;            ///< tokens meet in the logits
  std::string parameters;    ///< of S, all heads, as a formula
  std::vector<OptionInfo> options;
  std::function<std::unique_ptr<Synthesis>(const AttentionOptions&)> make;

  /// Global: the same weights for every sample.
  bool global() const { return tokens == Tokens::none; }
  const char* tokens_name() const;
  const char* sample_name() const { return global() ? "global" : "local"; }
};

/// All variants, in the order of the paper. Lines never move: a pointer to one stays good.
const std::deque<Variant>& variants();

/// Adds one from outside the library, for everything that reads the registry.
void add_variant(Variant variant);

/// By name or abbreviation, letter case aside; an unknown one is an error that suggests the nearest.
const Variant& find_variant(std::string_view name);

}  // namespace synthesizer
