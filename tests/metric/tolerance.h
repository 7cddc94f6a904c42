#pragma once

namespace synthesizer::testing {

/// What a score may differ from the number another program computed.
inline constexpr double kTolerance = 1e-9;

}  // namespace synthesizer::testing
