// Forward, block by block: rows of one sample and head against columns, with an online softmax, so that a
// block of S lives in a cache and is forgotten after its product with the values.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <array>
#include <cmath>
#include <limits>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/operands.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

/// What one thread works with.
struct ForwardScratch {
  AlignedFloats tile = aligned_floats(kTileRows * kTileStride);
  std::array<float, kTileRows> max, sum, rescale;
  Operands::Columns columns;
  Factor value;
  /// What a causal mask hides is not multiplied, unless 0 · NaN of a value shows there, as in PyTorch.
  bool triangular = false;
};

/// Rows [begin, end) of one sample and head; y and lse are those of the sample and head.
void attend_fused_rows(const Operands& operands, int64_t b, int64_t h, int64_t begin, int64_t end,
                       const Matrix& y, float* lse, ForwardScratch& scratch) {
  const int64_t rows = end - begin;
  const Visible visible = operands.visible(b);
  const DropoutMask dropping = operands.dropout_mask(b, h);
  const Matrix out = y.row_range(begin, end);
  std::fill_n(scratch.max.begin(), rows, -std::numeric_limits<float>::infinity());
  std::fill_n(scratch.sum.begin(), rows, 0.0f);

  const int64_t last = scratch.triangular ? std::min(visible.columns, end) : visible.columns;
  for (int64_t column = 0; column < last; column += kTileColumns) {
    const int64_t columns = std::min(kTileColumns, last - column);
    const Tile s{scratch.tile.get(), kTileStride, rows, columns, begin, column};
    operands.form_logits(s, scratch.columns);
    softmax(s, visible, scratch.max.data(), scratch.sum.data(), scratch.rescale.data());
    if (column > 0) scale_rows(out.data, out.row_stride, rows, out.columns, scratch.rescale.data());
    if (dropping.threshold != 0) apply_dropout(s, dropping);
    multiply(1, s.matrix(), scratch.value, column, 0, column > 0, out, inner_columns(s, scratch.triangular));
  }
  for (int64_t r = 0; r < rows; ++r) {
    float sum = scratch.sum[r];
    if (last > 0 && sum == 0) sum = std::numeric_limits<float>::quiet_NaN();  // it sees -infinity alone
    lse[begin + r] = scratch.max[r] + std::log(sum);                          // -inf where nothing is seen
    scratch.rescale[r] = 1 / sum;
    if (last == 0) std::fill_n(out.data + r * out.row_stride, out.columns, 0.0f);
  }
  if (last > 0) scale_rows(out.data, out.row_stride, rows, out.columns, scratch.rescale.data());
}

}  // namespace

Result fused_forward(const Problem& p) {
  const Operands operands(p);
  const int64_t batch = p.batch(), heads = p.heads(), rows = p.rows();
  const int64_t row_blocks = blocks(rows, kTileRows);
  auto y = empty_result(p);
  auto out = y.scalar_type() == at::kFloat ? y : at::empty_like(y, at::kFloat);
  auto lse = at::empty({p.batch(), heads, rows}, out.options());
  // Heads outermost: what a head shares with the whole batch is packed once.
  at::parallel_for(0, heads * batch * row_blocks, 1, [&](int64_t first, int64_t last) {
    ForwardScratch scratch;
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / row_blocks / batch, b = task / row_blocks % batch;
      const int64_t begin = task % row_blocks * kTileRows, end = std::min(begin + kTileRows, rows);
      const int64_t live = std::clamp(p.rows_of(b), begin, end);
      if (task == first || begin == 0) {
        // By the sample's own rows: how a product is computed must not depend on padding.
        operands.pack_columns(scratch.columns, b, h, p.rows_of(b));
        scratch.value.pack(operands.value(b, h), p.rows_of(b));
        scratch.triangular = p.mask.causal && all_finite(operands.value(b, h));
      }
      const Matrix all = Operands::matrix(out, b, h);
      float* sums = lse.data_ptr<float>() + (b * heads + h) * rows;
      if (live > begin) attend_fused_rows(operands, b, h, begin, live, all, sums, scratch);
      for (int64_t r = live; r < end; ++r) {  // padding
        std::fill_n(all.data + r * all.row_stride, all.columns, 0.0f);
        sums[r] = -std::numeric_limits<float>::infinity();
      }
    }
  });
  if (!out.is_same(y)) y.copy_(out);
  return {y, lse};
}

}  // namespace synthesizer::kernel
