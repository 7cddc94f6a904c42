#pragma once

#include <cstdint>
#include <span>

namespace synthesizer::unicode {

/// What the tokenizers ask of a character: the general categories N, P and S of Unicode.
enum class Category : uint8_t { other, number, punctuation, symbol };

struct CategoryRange {
  uint32_t first, last;
  Category category;
};

/// All characters that are not `other`, in order. A generated table.
std::span<const CategoryRange> category_ranges();

}  // namespace synthesizer::unicode
