#pragma once

#include <string_view>

namespace synthesizer {

// What the names of an attention layer's parameters say (docs/parameters.md). Names are relative to the
// layer: "logits.R.table". In files they follow the layer's own: "encoder.layers.0.attention.logits.R.table".

/// Before the names of what the members of an attention variant declare, "logits.V.query.weight", and of the
/// mixture's weights.
inline constexpr std::string_view kLogitsPrefix = "logits.";
/// The weights of a mixture's members.
inline constexpr std::string_view kMixtureName = "logits.mixture";

/// Whether the parameter makes the weights between positions: whether it is one of the parameters of S. All
/// below "logits." are, and what stands in its place in the baselines.
bool is_synthesis_parameter(std::string_view name);
/// The same for a name in a file.
bool is_saved_synthesis_parameter(std::string_view name);

/// Whether a name in a file is that of a table that is drawn and never trained.
bool is_saved_fixed_table(std::string_view name);

}  // namespace synthesizer
