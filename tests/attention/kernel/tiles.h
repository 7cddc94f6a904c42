#pragma once

#include "attention/kernel/random_bits.h"
#include "attention/kernel/tile.h"
#include "attention/layers.h"

// What the tests of the vector code share: blocks at odd sizes and places, and the factor of dropout by the
// book.
namespace synthesizer::testing {

using kernel::DropoutMask;
using kernel::Tile;
using kernel::Visible;

/// A tile in memory of its own, with a stride larger than its columns, filled with random numbers.
struct Block {
  Block(int64_t rows, int64_t columns, int64_t row, int64_t column, uint64_t seed)
      : memory(noise({rows, columns + 3}, seed)),
        tile{memory.data_ptr<float>(), columns + 3, rows, columns, row, column} {}

  at::Tensor memory;
  Tile tile;
};

/// Rows, columns, and the place of the corner: below, at and above whole vectors of 4, 8 and 16.
struct Place {
  int64_t rows, columns, row, column;
};
inline const Place kPlaces[] = {{1, 1, 0, 0},  {3, 5, 0, 0},  {2, 8, 4, 0},   {5, 16, 2, 7},  {4, 17, 30, 20},
                                {3, 31, 9, 3}, {2, 33, 0, 1}, {7, 64, 64, 0}, {3, 100, 5, 50}};

inline double keep_factor(const DropoutMask& drop, int64_t row, int64_t column) {
  if (drop.threshold == 0) return 1;
  const auto key = kernel::row_key(drop.seed, drop.matrix, row);
  return kernel::random_bits(key, static_cast<uint32_t>(column)) >= drop.threshold ? drop.scale : 0;
}

/// How many of the tile's columns a row sees, by asking for each.
inline int64_t seen(const Visible& visible, const Tile& tile, int64_t r) {
  int64_t n = 0;
  for (int64_t j = 0; j < tile.columns; ++j) {
    const int64_t column = tile.column + j;
    n += column < visible.columns && (!visible.causal || column <= tile.row + r);
  }
  return n;
}

}  // namespace synthesizer::testing
