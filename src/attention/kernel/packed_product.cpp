#include "attention/kernel/packed_product.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "attention/kernel/aligned_floats.h"

namespace synthesizer::kernel {
namespace {

constexpr int64_t kChunkRows = 48;  // a chunk of rows whose inputs stay in a cache
constexpr int64_t kInner = 512;     // so many of their columns at a time
constexpr int64_t kColumns = kPanelAlignment;
constexpr int64_t kMostColumns = 256;         // that a gathered chunk of rows meets
constexpr int64_t kSmall = int64_t{1} << 15;  // multiply-adds that are done before a second thread is awake
constexpr int64_t kSmallCopy = int64_t{1} << 16;  // numbers to pack, likewise
constexpr size_t kMostKept =
    (size_t{16} << 20) / 4;  // numbers of a packed factor that a thread keeps for the next

/// Columns that are far apart in memory, side by side: else each number of a row is in a page of its own.
Matrix gathered(const Matrix& x, float* to) {
  for (int64_t k = 0; k < x.columns; ++k) {
    std::memcpy(to + k * kChunkRows, x.data + k * x.column_stride,
                static_cast<size_t>(x.rows) * sizeof(float));
  }
  return {to, x.rows, x.columns, 1, kChunkRows};
}

/// y = x · b, or y += x · b, where y begins at that column of b and x has at most kChunkRows rows.
void multiply_chunk(const Matrix& x, const Factor& b, int64_t column, bool add, const Matrix& y) {
  thread_local const AlignedFloats gathering = aligned_floats(kChunkRows * kInner);
  int64_t k = 0;
  do {  // once also where there is nothing to add up
    const Matrix part = x.column_range(k, std::min(k + kInner, x.columns));
    multiply(1, x.column_stride == 1 ? part : gathered(part, gathering.get()), b, k, column, add || k > 0, y);
    k += kInner;
  } while (k < x.columns);
}

}  // namespace

void multiply_rows(const Matrix& x, const Factor& b, Start start, const Matrix& y) {
  const int64_t row_chunks = (y.rows + kChunkRows - 1) / kChunkRows;
  int64_t width = kColumns;
  if (x.column_stride != 1) {  // gathering pays for wide tasks, as long as there are enough of them
    const int64_t enough = 8 * at::get_num_threads();
    while (width < kMostColumns && row_chunks * y.columns >= enough * width) width *= 2;
  }
  const int64_t tasks = (y.columns + width - 1) / width * row_chunks;
  const int64_t grain = y.rows * y.columns * x.columns < kSmall ? tasks : 1;
  at::parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t column = task / row_chunks * width, row = task % row_chunks * kChunkRows;
      const Matrix out = y.row_range(row, std::min(row + kChunkRows, y.rows))
                             .column_range(column, std::min(column + width, y.columns));
      if (start.bias != nullptr) {
        for (int64_t r = 0; r < out.rows; ++r)
          std::copy_n(start.bias + column, out.columns, out.data + r * out.row_stride);
      }
      multiply_chunk(x.row_range(row, row + out.rows), b, column, start.there || start.bias != nullptr, out);
    }
  });
}

void multiply_rows(const Matrix& x, const Matrix& b, Start start, const Matrix& y) {
  thread_local Factor kept;
  Factor& factor = kept;  // of this thread, for all that help
  factor.reserve(b);
  const int64_t blocks = (b.columns + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kSmallCopy / std::max<int64_t>(1, kColumns * b.rows));
  at::parallel_for(0, blocks, grain, [&](int64_t first, int64_t last) {
    factor.pack_columns(first * kColumns, std::min(last * kColumns, b.columns));
  });
  multiply_rows(x, factor, start, y);
  if (factor.capacity() > kMostKept) factor = Factor();
}

}  // namespace synthesizer::kernel
