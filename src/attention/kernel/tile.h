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
struct DropoutMask {
  uint32_t threshold = 0;  ///< 0: none
  float scale = 1;         ///< of what stays
  int64_t seed = 0, matrix = 0;
};

/// The two outer factors of factorized-dense for one sample and head.
struct OuterFactors {
  const float *left = nullptr, *right = nullptr;
  int64_t left_stride = 0, right_stride = 0;  ///< from row to row
  int64_t a = 0, b = 0;
  bool tile = false;

  explicit operator bool() const { return left != nullptr; }
};

// Element-wise work on tiles, in vector code that is chosen when the program runs (AVX-512, AVX2, …).

/// A head's table, shared by the batch.
struct Table {
  const float* data;
  int64_t row_stride;  ///< 0: every row is the same one
  float scale = 1;     ///< of its entries in S
};

/// S = scale · table, or S += scale · table.
void put_table(const Tile& s, const Table& table, bool add);

/// S = left ⊙ right, or S += left ⊙ right.
void put_outer(const Tile& s, const OuterFactors& outer, bool add);

/// One step of an online softmax. In: logits. Out: exp(S - max), 0 where nothing is seen. `max` and `sum` of
/// each row are brought up to date; `rescale` is what earlier results of the row must be multiplied by.
///
/// Of these and the two below: a logit of -infinity has weight 0. A row that sees NaN or +infinity has a sum
/// (here) or weights (below) of NaN; so has one of nothing but -infinity, whose sum here is 0.
void softmax(const Tile& s, const Visible& visible, float* max, float* sum, float* rescale);

/// The whole softmax of rows that lie in the tile entirely: normalised weights.
void softmax_rows(const Tile& s, const Visible& visible);

/// Zeroes the dropped weights and scales the others.
void apply_dropout(const Tile& p, const DropoutMask& drop);

/// Backward through softmax and dropout. In: logits S, gradient G of the dropped weights, log-sum `lse` and
/// the inner product `delta` of each row. Out: dropped weights in s, gradient of S in g.
void softmax_backward(const Tile& s, const Tile& g, const Visible& visible, const float* lse,
                      const float* delta, const DropoutMask& drop);

/// g = p (g · mask - shift), entry by entry: backward through weights that are normalised already. A shift
/// stride of 0: one number per row.
void weights_backward(const Tile& p, const Tile& g, const Visible& visible, const float* shift,
                      int64_t shift_stride, const DropoutMask& drop);

/// to = scale · g or to += scale · g, at the tile's place; += the sum of its rows where the row stride is 0.
void put_table_gradient(const Tile& g, float scale, bool add, float* to, int64_t row_stride);

/// Σ g · table over what is visible: the gradient of the table's scale.
double table_product(const Tile& g, const Table& table, const Visible& visible);

/// Adds the gradients of the factors, rows of which lie at the given strides.
void outer_backward(const Tile& g, const OuterFactors& outer, float* left, int64_t left_stride, float* right,
                    int64_t right_stride);

/// Whether no entry is NaN or infinite.
bool all_finite(const Matrix& m);

/// Multiplies row r by factor[r].
void scale_rows(float* data, int64_t stride, int64_t rows, int64_t columns, const float* factor);

/// sum[r] = Σ a[r, :] · b[r, :].
void row_products(const float* a, int64_t a_stride, const float* b, int64_t b_stride, int64_t rows,
                  int64_t columns, float* sum);

/// The name of the instruction set in use, for reports.
const char* vector_target();

}  // namespace synthesizer::kernel
