#include "attention/kernel/attend_slots.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/operands.h"

namespace synthesizer {
namespace kernel {
namespace {

/// The parts of the logits where the block code can read them.
struct SlotParts {
  at::Tensor query, row, column, left, right, table;
  float scale;
  bool tile;
};

/// What one thread works with. `columns`: the most that a row sees.
struct SlotScratch {
  explicit SlotScratch(int64_t columns)
      : tile(aligned_floats(static_cast<size_t>(std::max(columns, kTileStride)))) {}
  AlignedFloats tile;
  Factor key, column, value;
};

/// One row of S at the tile's columns: the same parts in the same order as Operands::form_logits.
void form_row(const SlotParts& parts, int64_t b, int64_t h, int64_t table_row, const Tile& s,
              SlotScratch& scratch) {
  bool begun = false;
  if (parts.table.defined()) {
    const at::Tensor& table = parts.table;
    put_table(s, {table.const_data_ptr<float>() + h * table.stride(0) + table_row * table.stride(1), 0},
              false);
    begun = true;
  }
  if (parts.left.defined()) {
    const Matrix left = Operands::matrix(parts.left, b, h), right = Operands::matrix(parts.right, b, h);
    put_outer(
        s,
        {left.data, right.data, left.row_stride, right.row_stride, left.columns, right.columns, parts.tile},
        begun);
    begun = true;
  }
  auto add_product = [&](float scale, const at::Tensor& rows, const Factor& factor) {
    multiply(scale, Operands::matrix(rows, b, h), factor, 0, s.column, begun, s.matrix());
    begun = true;
  };
  if (parts.query.defined()) add_product(parts.scale, parts.query, scratch.key);
  if (parts.row.defined()) add_product(1, parts.row, scratch.column);
  if (!begun) std::fill_n(s[0], s.columns, 0.0f);
}

/// One sample and head: an online softmax over tiles of columns, as in fused_forward.cpp.
void attend_slot(const SlotParts& parts, int64_t b, int64_t h, int64_t table_row, int64_t columns,
                 const Matrix& out, SlotScratch& scratch) {
  float max = -std::numeric_limits<float>::infinity(), sum = 0, rescale = 1;
  for (int64_t column = 0; column < columns; column += kTileColumns) {
    const Tile s{scratch.tile.get(), kTileStride, 1, std::min(kTileColumns, columns - column), 0, column};
    form_row(parts, b, h, table_row, s, scratch);
    softmax(s, {false, columns}, &max, &sum, &rescale);
    if (column > 0) scale_rows(out.data, out.row_stride, 1, out.columns, &rescale);
    multiply(1, s.matrix(), scratch.value, column, 0, column > 0, out);
  }
  if (columns == 0) return static_cast<void>(std::fill_n(out.data, out.columns, 0.0f));
  rescale = 1 / (sum == 0 ? std::numeric_limits<float>::quiet_NaN() : sum);  // 0: it sees -infinity alone
  scale_rows(out.data, out.row_stride, 1, out.columns, &rescale);
}

/// The same where the logits depend on no token: normalised weights first, as in global.cpp.
void attend_global_slot(const SlotParts& parts, int64_t h, int64_t table_row, int64_t columns,
                        const Matrix& out, SlotScratch& scratch) {
  const Tile s{scratch.tile.get(), columns, 1, columns, 0, 0};
  form_row(parts, 0, h, table_row, s, scratch);
  softmax_rows(s, {false, columns});
  multiply(1, s.matrix(), scratch.value, 0, 0, false, out);
}

Matrix head_row(const at::Tensor& y, int64_t b, int64_t h) {
  return {y.data_ptr<float>() + b * y.stride(0) + h * y.stride(1), 1, y.size(2), y.size(2), 1};
}

}  // namespace
}  // namespace kernel

at::Tensor attend_slots(const Logits& logits, const at::Tensor& keys, const at::Tensor& values,
                        const at::Tensor& table, std::span<const int64_t> table_rows, const SlotView& view) {
  using namespace kernel;
  const auto batch = static_cast<int64_t>(view.slots.size());
  const int64_t heads = values.size(1);
  const SlotParts parts{with_unit_stride(logits.query),     with_unit_stride(logits.row),
                        with_unit_stride(logits.column),    with_contiguous_rows(logits.left),
                        with_contiguous_rows(logits.right), with_contiguous_rows(table),
                        static_cast<float>(logits.scale),   logits.tile};
  auto y = at::empty({batch, heads, values.size(3)}, values.options());
  const bool global = logits.global();
  const int64_t most = batch > 0 ? *std::max_element(view.columns.begin(), view.columns.end()) : 0;
  at::parallel_for(0, heads * batch, 1, [&](int64_t first, int64_t last) {
    SlotScratch scratch(global ? most : 0);
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / batch, b = task % batch;
      const auto at = static_cast<size_t>(b);
      const int64_t slot = view.slots[at], columns = view.columns[at];
      if (parts.query.defined())
        scratch.key.pack(Operands::matrix(keys, slot, h).row_range(0, columns).transposed(), 1);
      if (parts.row.defined())
        scratch.column.pack(Operands::matrix(parts.column, 0, h).row_range(0, columns).transposed(), 1);
      scratch.value.pack(Operands::matrix(values, slot, h).row_range(0, columns), 1);
      const int64_t table_row = parts.table.defined() ? table_rows[at] : 0;
      if (global) {
        attend_global_slot(parts, h, table_row, columns, head_row(y, b, h), scratch);
      } else {
        attend_slot(parts, b, h, table_row, columns, head_row(y, b, h), scratch);
      }
    }
  });
  return y.view({batch, 1, heads * values.size(3)});
}

at::Tensor attend_slots_with_weights(const at::Tensor& weights, std::span<const int64_t> rows,
                                     const at::Tensor& values, const SlotView& view) {
  using namespace kernel;
  const auto batch = static_cast<int64_t>(view.slots.size());
  const int64_t heads = values.size(1);
  auto y = at::empty({batch, heads, values.size(3)}, values.options());
  at::parallel_for(0, heads * batch, 1, [&](int64_t first, int64_t last) {
    Factor value;
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / batch, b = task % batch;
      const auto at = static_cast<size_t>(b);
      const int64_t columns = view.columns[at];
      value.pack(Operands::matrix(values, view.slots[at], h).row_range(0, columns), 1);
      const Matrix row = Operands::matrix(weights, 0, h).row_range(rows[at], rows[at] + 1);
      multiply(1, row.column_range(0, columns), value, 0, 0, false, head_row(y, b, h));
    }
  });
  return y.view({batch, 1, heads * values.size(3)});
}

}  // namespace synthesizer
