#pragma once

#include <algorithm>

#include "attention/kernel/matrix.h"
#include "attention/kernel/problem.h"
#include "attention/kernel/product.h"
#include "attention/kernel/random_bits.h"
#include "attention/kernel/tile.h"

namespace synthesizer::kernel {

/// A problem's tensors as float32 with strides that the block code can use: copies only where bfloat16 has
/// to be widened or where no stride of a matrix is 1.
class Operands {
 public:
  explicit Operands(const Problem& problem);

  /// Matrices of sample b and head h.
  Matrix query(int64_t b, int64_t h) const { return matrix(query_, b, h); }
  Matrix key(int64_t b, int64_t h) const { return matrix(key_, b, h); }
  Matrix row(int64_t b, int64_t h) const { return matrix(row_, b, h); }
  Matrix column(int64_t h) const { return matrix(column_, 0, h); }
  Matrix value(int64_t b, int64_t h) const { return matrix(value_, b, h); }
  OuterFactors outer(int64_t b, int64_t h) const;
  Table table(int64_t h) const;
  Table bias(int64_t b, int64_t h) const;  ///< of one sample; only where the problem has one
  DropoutMask dropout_mask(int64_t b, int64_t h) const;
  /// Whether no factor of the logits is NaN or infinite (the table is none).
  bool finite_features(int64_t b, int64_t h) const;
  Visible visible(int64_t b) const { return {causal_, problem_->columns_of(b)}; }

  /// What the columns of sample b and head h bring to S, to meet `rows` rows: only what is new is packed.
  struct Columns {
    Factor key, column;  ///< F×M and G×M
    int64_t sample = -1, head = -1;
  };
  void pack_columns(Columns& columns, int64_t b, int64_t h, int64_t rows) const;

  /// Writes the logits at the tile's place; under a causal mask perhaps not those that no row sees.
  void form_logits(const Tile& s, const Columns& columns) const;

  /// Any B×H×R×C (or H×R×C, for b = 0) tensor as the matrix of one sample and head.
  static Matrix matrix(const at::Tensor& t, int64_t b, int64_t h);

 private:
  const Problem* problem_;
  at::Tensor query_, key_, row_, column_, table_, table_scale_, left_, right_, value_, bias_;
  bool causal_;
};

/// float32, and one of the last two strides 1.
at::Tensor with_unit_stride(const at::Tensor& t);

/// The same for what is read row by row: the last stride 1.
at::Tensor with_contiguous_rows(const at::Tensor& t);

inline int64_t blocks(int64_t size, int64_t block) {
  return (size + block - 1) / block;
}

/// S is worked on in tiles of this size; rows a multiple of what a product does at once. The stride is not a
/// power of two, so that a column of a tile does not fall into one set of the cache.
inline constexpr int64_t kTileRows = 48;
inline constexpr int64_t kTileColumns = 512;
inline constexpr int64_t kTileStride = kTileColumns + 16;

/// What lies at and below the diagonal of a tile, for the three kinds of products with it.
inline TriangularPart wanted_columns(const Tile& t, bool causal) {
  return causal ? TriangularPart{TriangularPart::Kind::columns_below, t.row - t.column} : TriangularPart{};
}
inline TriangularPart inner_columns(const Tile& t, bool causal) {
  return causal ? TriangularPart{TriangularPart::Kind::inner_below, t.row - t.column} : TriangularPart{};
}
inline TriangularPart inner_rows(const Tile& t, bool causal) {
  return causal ? TriangularPart{TriangularPart::Kind::inner_from, t.column - t.row} : TriangularPart{};
}

}  // namespace synthesizer::kernel
