#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/options.h"
#include "attention/registry.h"

namespace synthesizer {

/// Reads "R+V", "random+vanilla" or "D": the members of a mixture in the order written, one for a plain
/// variant. Unknown members, empty ones, one named twice and baselines (see baselines.h) are errors.
std::vector<const Variant*> parse_spec(std::string_view spec);

/// The spec in its short form: "R+V".
std::string short_spec(const std::vector<const Variant*>& members);

/// The options these members take (and a mixture of them), to check what was given and to print help.
std::vector<OptionInfo> options_of(const std::vector<const Variant*>& members);

// The same for whatever may stand under `attention`, baselines too: "light-conv:15" stays as it is.
std::string short_spec(std::string_view attention);
std::vector<OptionInfo> options_of(std::string_view attention);

/// Throws InvalidInput where an option was given that this attention does not take.
void check_extra_options(const AttentionOptions& options);

}  // namespace synthesizer
