#pragma once

#include <cstdint>
#include <string>

namespace synthesizer::testing {

/// One random problem for `attend` or `convolve`: shapes, parts of the logits, masks, layouts, float32 or
/// bfloat16, and numbers among which are ties, denormals, huge and tiny ones, and -infinity in tables.
/// Computed by the operator (and, where there are global weights, by these too) and by loops in double
/// precision, forward and backward. Each result may differ by no more than float32 allows: the loops carry a
/// bound for the rounding of every sum.
///
/// Returns what differs; nothing where all is well. The same seed gives the same problem everywhere.
std::string check_random_case(uint64_t seed);

}  // namespace synthesizer::testing
