#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace synthesizer::unicode {

/// A character and what it consists of, in order; unused places are 0.
struct Decomposition {
  uint32_t from;
  std::array<uint32_t, 4> to;
};

/// All canonical decompositions but those of Korean syllables, in order of the characters. A generated table.
std::span<const Decomposition> decompositions();

}  // namespace synthesizer::unicode
