#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace synthesizer {

/// The candidate with the smallest edit distance to the word, letter case aside; empty where all are
/// further than half of the word's length (and more than one edit) away.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ", did you mean 'x'?" or nothing, to end a message with.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace synthesizer
