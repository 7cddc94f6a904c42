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

/// What the paper compares its attentions with, under the same key `attention`: layers that mix positions
/// without an alignment matrix. They stand alone: no mixture has one as its member.
///
/// A size may be written behind the name, "light-conv:15" (the kernel's width) or "linformer:64" (the rank),
/// so that a list of layers can have one each.
struct Rival {
  std::string name;        ///< "light-conv"
  std::string help;        ///< in a few words, with the paper
  bool causal;             ///< it can be, and then it can decode step by step
  std::string parameters;  ///< that make its weights, all heads, as a formula
  std::string size;        ///< the option that a number behind the name sets
  std::vector<OptionInfo> options;
  std::function<std::unique_ptr<Mixer>(AttentionOptions)> make;  ///< from options with the size among them
};

/// All of them, in the order of the paper's tables.
const std::vector<Rival>& rivals();

/// A rival as somebody wrote it.
struct NamedRival {
  const Rival* rival;
  std::optional<int64_t> size;

  std::string spec() const;  ///< "light-conv:15", or "light-conv" where no size was written
};

/// The rival that a spec names, letter case aside; nothing where it names no rival. A size that is no whole
/// number is an error.
std::optional<NamedRival> find_rival(std::string_view spec);

}  // namespace synthesizer
