#pragma once

#include <memory>

#include "attention/kernel/matrix.h"

namespace synthesizer::kernel {

/// How the numbers of a packed factor are stored. bfloat16 takes half of the memory, and so half of the time
/// where reading a weight is what takes it; products and sums are float32 all the same.
enum class Storage { float32, bfloat16 };

/// The right factor of a product, rearranged once into the order in which the product reads it: panels of a
/// few columns, each panel row after row. A head's keys and values are packed once and meet many blocks of
/// rows, where a BLAS call would pack them again for every block.
class Factor {
 public:
  /// Packs b where this pays for the number of rows that it will be multiplied with; otherwise keeps a
  /// reference to it.
  void pack(const Matrix& b, int64_t rows);
  /// Whether packing pays for that many rows.
  static bool worth_packing(int64_t rows) { return rows >= 8; }
  /// Makes room for b, whose columns are then packed in parts, by several threads at once: `begin` is a
  /// multiple of kPanelAlignment, and so is `end`, or it is the end of b.
  void reserve(const Matrix& b);
  void pack_columns(int64_t begin, int64_t end) const;
  /// Packs a weight, for any number of rows, into memory of its own kind (weight_memory.h). For bfloat16 its
  /// numbers must be such numbers already: the lower 16 bits are dropped.
  void pack_weight(const Matrix& b, Storage storage = Storage::float32);

  bool packed() const { return packed_; }
  Storage storage() const { return storage_; }
  const Matrix& matrix() const { return matrix_; }  ///< as taken
  /// Of bfloat16: two numbers in each word, one of either vector of a panel's row.
  const float* panels() const { return data_.get(); }
  size_t capacity() const { return capacity_; }  ///< words that there is room for

 private:
  Matrix matrix_;
  bool packed_ = false;
  Storage storage_ = Storage::float32;
  size_t capacity_ = 0;
  std::shared_ptr<float[]> data_;
};

/// The part of a product that is needed where something ends at a diagonal. A few entries more may be
/// computed.
struct TriangularPart {
  enum class Kind {
    all,
    columns_below,  ///< row r of the result is wanted in columns below r + 1 + offset
    inner_below,    ///< row r of the left factor is zero from r + 1 + offset on
    inner_from,     ///< row r of the left factor is zero below r + offset
  };
  Kind kind = Kind::all;
  int64_t offset = 0;
};

/// c = alpha · a · b, or c += alpha · a · b, where b is rows [inner, inner + a.columns) and columns
/// [column, column + c.columns) of the factor; `column` is a multiple of kPanelAlignment, c has column
/// stride 1.
void multiply(float alpha, const Matrix& a, const Factor& b, int64_t inner, int64_t column, bool add,
              const Matrix& c, const TriangularPart& part = {});

inline constexpr int64_t kPanelAlignment = 64;  ///< a multiple of every panel width there is

}  // namespace synthesizer::kernel
