#pragma once

#include <cstdint>
#include <span>

namespace synthesizer::unicode {

/// What tokenizers and metrics ask of a character: the general categories L, N, P, S and Mn of Unicode, and
/// as `control` Cc, Cf and Co.
enum class Category : uint8_t { other, letter, number, punctuation, symbol, mark, control };

struct CategoryRange {
  uint32_t first, last;
  Category category;
};

/// All characters that are not `other`, in order. A generated table.
std::span<const CategoryRange> category_ranges();

}  // namespace synthesizer::unicode
