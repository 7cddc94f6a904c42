#pragma once

#include <cstdint>

#include "attention/kernel/matrix.h"

namespace synthesizer::kernel {

/// A block of S (or of its gradient) in a buffer that fits a cache, and its place in the whole.
struct Tile {
  float* data;
  int64_t stride;
  int64_t rows, columns;
  int64_t row, column;  ///< of its corner in S

  float* operator[](int64_t r) const { return data + r * stride; }
  Matrix matrix() const { return {data, rows, columns, stride, 1}; }
};

/// Which entries of S have weight: columns below `columns`, and not after the row's own if causal.
struct Visible {
  bool causal;
  int64_t columns;

  /// How many of the tile's columns its row r sees.
  int64_t of(const Tile& tile, int64_t r) const {
    int64_t end = columns;
    if (causal && tile.row + r + 1 < end) end = tile.row + r + 1;
    end -= tile.column;
    return end < 0 ? 0 : end > tile.columns ? tile.columns : end;
  }
};

/// Dropout of one L×M matrix of weights; see random_bits.h.
struct Drop {
  uint32_t threshold = 0;  ///< 0: none
  float scale = 1;         ///< of what stays
  int64_t seed = 0, matrix = 0;
};

/// The two outer factors of factorized-dense for one sample and head.
struct Outer {
  const float *left = nullptr, *right = nullptr;
  int64_t left_stride = 0, right_stride = 0;  ///< from row to row
  int64_t a = 0, b = 0;
  bool tile = false;

  explicit operator bool() const { return left != nullptr; }
};

// Element-wise work on tiles, in vector code that is chosen when the program runs (AVX-512, AVX2, …).

/// S = table, or S += table. A row stride of 0 gives every row the same one.
void put_table(const Tile& s, const float* table, int64_t row_stride, bool add);

/// S = left ⊙ right, or S += left ⊙ right.
void put_outer(const Tile& s, const Outer& outer, bool add);

/// One step of an online softmax. In: logits. Out: exp(S - max), 0 where nothing is seen. `max` and `sum` of
/// each row are brought up to date; `rescale` is what earlier results of the row must be multiplied by.
void softmax(const Tile& s, const Visible& visible, float* max, float* sum, float* rescale);

/// The whole softmax of rows that lie in the tile entirely: normalised weights.
void softmax_rows(const Tile& s, const Visible& visible);

/// Zeroes the dropped weights and scales the others.
void drop(const Tile& p, const Drop& drop);

/// Backward through softmax and dropout. In: logits S, gradient G of the dropped weights, log-sum `lse` and
/// the inner product `delta` of each row. Out: dropped weights in s, gradient of S in g.
void softmax_backward(const Tile& s, const Tile& g, const Visible& visible, const float* lse,
                      const float* delta, const Drop& drop);

/// g = p (g · mask - shift), entry by entry: backward through weights that are normalised already. A shift
/// stride of 0: one number a row.
void weights_backward(const Tile& p, const Tile& g, const Visible& visible, const float* shift,
                      int64_t shift_stride, const Drop& drop);

/// table += g, or table += the sum of its rows where the row stride is 0.
void add_to_table(const Tile& g, float* table, int64_t row_stride);

/// Adds the gradients of the factors, rows of which lie at the given strides.
void outer_backward(const Tile& g, const Outer& outer, float* left, int64_t left_stride, float* right,
                    int64_t right_stride);

/// Multiplies row r by factor[r].
void scale_rows(float* data, int64_t stride, int64_t rows, int64_t columns, const float* factor);

/// sum[r] = Σ a[r, :] · b[r, :].
void row_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows,
                  int64_t columns, float* sum);

/// The name of the instruction set in use, for reports.
const char* vector_target();

}  // namespace synthesizer::kernel
