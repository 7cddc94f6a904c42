// Logits that depend on no token: the weights P of a head are made once for the whole batch, as many rows at
// a time as fit a cache, and each sample is a product P · V with sizes cut to its length. A sample that sees
// only n columns has the weights P_ij / s_i, where s_i = Σ_{j<n} P_ij is a prefix sum of its row. (Under a
// causal mask rows that count see no padding, so that no column lengths are given then.)

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/paths.h"
#include "attention/kernel/weight_rows.h"

namespace synthesizer::kernel {
namespace {

/// A head's values of one sample.
struct GlobalValues {
  Factor factor;
  bool finite = false;

  void pack(const Problem& p, const Operands& operands, int64_t b, int64_t h) {
    const Matrix value = operands.value(b, h).row_range(0, p.columns_of(b));
    factor.pack(value, p.rows());
    finite = !p.mask.causal || all_finite(value);
  }
};

/// Rows [begin, end) of the result of one sample and head.
void attend_global_rows(const Problem& p, const Operands& operands, const WeightRows& weights, int64_t b,
                        int64_t h, int64_t begin, int64_t end, const GlobalValues& values, const Matrix& to) {
  const int64_t live = std::clamp(p.rows_of(b), begin, end), n = p.columns_of(b);
  if (live > begin) {
    // (0 · NaN of a hidden value shows in every row, as in PyTorch.)
    const bool triangular = p.mask.causal && values.finite;
    multiply(1, weights.dropped().row_range(0, live - begin).column_range(0, n), values.factor, 0, 0, false,
             to.row_range(begin, live),
             triangular ? TriangularPart{TriangularPart::Kind::inner_below, begin} : TriangularPart{});
  }
  for (int64_t i = begin; i < end; ++i) {
    float* row = to.data + i * to.row_stride;
    if (i >= live || n == 0) {
      std::fill_n(row, to.columns, 0.0f);
    } else if (weights.underflowed(b, i)) {
      std::vector<float> own(n);
      weights.make_underflowed_row(i, n, own.data());
      if (const DropoutMask dropping = operands.dropout_mask(0, h); dropping.threshold != 0) {
        apply_dropout({own.data(), n, 1, n, i, 0}, dropping);
      }
      const Matrix value = operands.value(b, h).row_range(0, n);
      multiply(1, {own.data(), 1, n, n, 1}, value, 0, {row, 1, to.columns, to.columns, 1});
    } else if (weights.any_sums()) {
      const float factor_of_row = 1 / weights.sum(b, i);
      scale_rows(row, to.row_stride, 1, to.columns, &factor_of_row);
    }
  }
}

}  // namespace

at::Tensor make_global_weights(const Logits& logits, bool causal) {
  const at::Tensor& shared = logits.table.defined() ? logits.table : logits.row;
  const int64_t heads = shared.size(0);
  const int64_t columns = logits.table.defined() ? logits.table.size(2) : logits.column.size(1);
  const Problem p{logits, {causal, {}, {}}, at::empty({1, heads, columns, 0}, shared.options()), {}};
  p.check();
  const Operands operands(p);
  const int64_t rows = p.rows(), row_blocks = blocks(rows, kTileRows);
  auto weights = at::empty({heads, rows, columns}, shared.options().dtype(at::kFloat));
  at::parallel_for(0, heads * row_blocks, 1, [&](int64_t first, int64_t last) {
    Operands::Columns packed;
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / row_blocks, begin = task % row_blocks * kTileRows;
      const int64_t end = std::min(begin + kTileRows, rows);
      operands.pack_columns(packed, 0, h, rows);
      make_weights(operands, packed, causal, begin, end,
                   Operands::matrix(weights, 0, h).row_range(begin, end));
    }
  });
  return weights;
}

at::Tensor apply_global_weights(const Problem& p, const at::Tensor& ready) {
  const Operands operands(p);
  const int64_t batch = p.batch(), rows = p.rows();
  // At least as many tasks as threads.
  const int64_t parts = blocks(at::get_num_threads(), std::max<int64_t>(p.heads(), 1));
  const int64_t most = ready.defined() ? rows : std::min(rows, WeightRows::block_rows(p));
  const int64_t block = std::max<int64_t>(std::min(most, blocks(rows, parts)), 1);
  const int64_t row_blocks = blocks(rows, block);
  auto y = empty_result(p);
  auto out = y.scalar_type() == at::kFloat ? y : at::empty_like(y, at::kFloat);
  at::parallel_for(0, p.heads() * row_blocks, 1, [&](int64_t first, int64_t last) {
    WeightRows weights(p, operands, block, ready);
    // Values that meet one block alone need not be kept.
    const bool keep = row_blocks > 1;
    std::vector<GlobalValues> values(keep ? batch : 1);
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / row_blocks, begin = task % row_blocks * block,
                    end = std::min(begin + block, rows);
      weights.make(h, begin, end);
      for (int64_t b = 0; b < batch; ++b) {
        GlobalValues& own = values[keep ? b : 0];
        if (!keep || task == first || begin == 0) own.pack(p, operands, b, h);
        attend_global_rows(p, operands, weights, b, h, begin, end, own, Operands::matrix(out, b, h));
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
