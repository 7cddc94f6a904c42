// Logits that depend on no token: the weights P = softmax(table) of a head are made once for the whole batch,
// and each sample is a product P · V with sizes cut to its length. A sample that sees only n columns has the
// weights P_ij / s_i, where s_i = Σ_{j<n} P_ij is a prefix sum of its row. (Under a causal mask rows that
// count see no padding, so the frame gives no column lengths then.)

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/head_weights.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

/// Rows [begin, end) of the result of one sample and head.
void attend_global_rows(const Problem& p, const Operands& operands, const HeadWeights& head, int64_t b,
                        int64_t h, int64_t begin, int64_t end, Factor& factor, const Matrix& to) {
  const int64_t live = std::clamp(p.rows_of(b), begin, end), n = p.columns_of(b);
  const Matrix value = operands.value(b, h).row_range(0, n);
  if (live > begin) {
    factor.take(value, live - begin);
    multiply(1, head.dropped().row_range(begin, live).column_range(0, n), factor, 0, 0, false,
             to.row_range(begin, live), p.mask.causal ? Part{Part::Kind::inner_below, begin} : Part{});
  }
  for (int64_t i = begin; i < end; ++i) {
    float* row = to.data + i * to.row_stride;
    if (i >= live || n == 0) {
      std::fill_n(row, to.columns, 0.0f);
    } else if (head.stray(b, i)) {
      std::vector<float> weights(n);
      head.make_stray_row(i, n, weights.data());
      if (const Drop dropping = operands.drop(0, h); dropping.threshold != 0) {
        drop({weights.data(), n, 1, n, i, 0}, dropping);
      }
      multiply(1, {weights.data(), 1, n, n, 1}, value, 0, {row, 1, to.columns, to.columns, 1});
    } else if (head.any_sums()) {
      const float factor_of_row = 1 / head.sum(b, i);
      scale_rows(row, to.row_stride, 1, to.columns, &factor_of_row);
    }
  }
}

}  // namespace

at::Tensor make_global_weights(const at::Tensor& table, bool causal) {
  const int64_t heads = table.size(0), rows = table.size(1), row_blocks = blocks(rows, kTileRows);
  const auto source = table.stride(-1) == 1 ? table : table.contiguous();
  auto weights = at::empty({heads, rows, table.size(2)}, table.options());
  at::parallel_for(0, heads * row_blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / row_blocks, begin = task % row_blocks * kTileRows;
      make_weights(source, h, causal, begin, std::min(begin + kTileRows, rows),
                   Operands::matrix(weights, 0, h));
    }
  });
  return weights;
}

at::Tensor apply_global_weights(const Problem& p, const at::Tensor& ready) {
  const Operands operands(p);
  // Weights that are ready need their table only for stray rows, which only column lengths bring about.
  const bool needed = !ready.defined() || p.mask.column_lengths.defined();
  const auto table = needed ? full_table(p) : at::Tensor();
  const int64_t batch = p.batch(), rows = p.rows();
  // One task a head, or several parts of its rows where there are fewer heads than threads.
  const int64_t parts = std::clamp<int64_t>(blocks(at::get_num_threads(), std::max<int64_t>(p.heads(), 1)), 1,
                                            std::max<int64_t>(blocks(rows, kTileRows), 1));
  auto y = empty_result(p);
  auto out = y.scalar_type() == at::kFloat ? y : at::empty_like(y, at::kFloat);
  at::parallel_for(0, p.heads() * parts, 1, [&](int64_t first, int64_t last) {
    HeadWeights head(p, operands, table, ready);
    Factor factor;
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / parts, part = task % parts;
      const int64_t begin = part * rows / parts, end = (part + 1) * rows / parts;
      head.make(h, begin, end);
      for (int64_t b = 0; b < batch; ++b) {
        attend_global_rows(p, operands, head, b, h, begin, end, factor, Operands::matrix(out, b, h));
      }
    }
  });
  if (!out.is_same(y)) y.copy_(out);
  return y;
}

Result global_forward(const Problem& p) {
  // Backward makes the weights again: that is cheaper than keeping H×L×M of them.
  return {apply_global_weights(p, {}), at::empty({0}, p.value.options().dtype(at::kFloat))};
}

}  // namespace synthesizer::kernel
