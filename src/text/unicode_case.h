#pragma once

#include <cstdint>
#include <span>

namespace synthesizer::unicode {

struct CodeRange {
  uint32_t first, last;
};

/// Every `step`-th character from first to last has its lower case `by` further on.
struct LowerRange {
  uint32_t first, last, step;
  int32_t by;
};

/// Generated tables, in order of the characters. İ alone has a lower case of two characters and is not among
/// them. What is cased makes a Σ after it final, what is ignorable is looked through (Unicode's Final_Sigma).
std::span<const LowerRange> lower_ranges();
std::span<const CodeRange> cased_ranges();
std::span<const CodeRange> ignorable_ranges();

}  // namespace synthesizer::unicode
