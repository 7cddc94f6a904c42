#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace synthesizer {

/// The length of the longest sequence of words that both texts have in that order, other words between them.
size_t longest_common_subsequence(std::span<const uint32_t> a, std::span<const uint32_t> b);

/// The places in `reference` of one such sequence, in order. Of several it is the one that Google's
/// rouge-score finds: going back from the ends, the reference is left first.
std::vector<size_t> common_places(std::span<const uint32_t> reference, std::span<const uint32_t> text);

}  // namespace synthesizer
