#include "attention/kernel/packed_product.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace synthesizer::kernel {
namespace {

constexpr int64_t kChunkRows = 48;            // a chunk of rows whose inputs stay in a cache
constexpr int64_t kSmall = int64_t{1} << 15;  // multiply-adds that are done before a second thread is awake
constexpr int64_t kColumns = kPanelAlignment;

}  // namespace

void multiply_rows(const Matrix& x, const Factor& b, const float* bias, const Matrix& y) {
  const int64_t column_blocks = (y.columns + kColumns - 1) / kColumns;
  const int64_t row_chunks = (y.rows + kChunkRows - 1) / kChunkRows;
  const int64_t tasks = column_blocks * row_chunks;
  const int64_t grain = y.rows * y.columns * x.columns < kSmall ? tasks : 1;
  at::parallel_for(0, tasks, grain, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t column = task / row_chunks * kColumns, row = task % row_chunks * kChunkRows;
      const Matrix out = y.row_range(row, std::min(row + kChunkRows, y.rows))
                             .column_range(column, std::min(column + kColumns, y.columns));
      if (bias != nullptr) {
        for (int64_t r = 0; r < out.rows; ++r)
          std::copy_n(bias + column, out.columns, out.data + r * out.row_stride);
      }
      multiply(1, x.row_range(row, row + out.rows), b, 0, column, bias != nullptr, out);
    }
  });
}

}  // namespace synthesizer::kernel
