// Logits that depend on no token: the weights P = softmax(table) are made once for the whole batch, and each
// sample is a product P · V with sizes cut to its length. With right padding and no causal mask, a sample of
// n columns has the weights P_ij / s_i, where s_i = Σ_{j<n} P_ij is a prefix sum of its row; with a causal
// mask s_i = 1 for every row that counts.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/global.h"
#include "attention/kernel/operands.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {

at::Tensor full_table(const Problem& p) {
  if (!p.logits.table.defined()) {
    return at::zeros({p.heads(), p.rows(), p.columns()}, p.value.options().dtype(at::kFloat));
  }
  auto table = p.logits.table.to(at::kFloat).expand({p.heads(), p.rows(), p.columns()});
  return table.stride(-1) == 1 ? table : table.contiguous();
}

at::Tensor make_global_weights(const at::Tensor& table, bool causal, int64_t rows) {
  const int64_t heads = table.size(0), columns = table.size(2), row_blocks = blocks(rows, kTileRows);
  auto weights = at::empty({heads, rows, columns}, table.options().dtype(at::kFloat));
  at::parallel_for(0, heads * row_blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / row_blocks, begin = task % row_blocks * kTileRows;
      const int64_t end = std::min(begin + kTileRows, rows);
      const Matrix out = Operands::matrix(weights, 0, h);
      // Beyond the last column that a row of the block sees there is nothing to read.
      const int64_t seen = causal ? std::min(columns, end) : columns;
      const Tile p{out.data + begin * columns, columns, end - begin, seen, begin, 0};
      put_table(p, table.const_data_ptr<float>() + h * table.stride(0), table.stride(1), false);
      softmax_rows(p, {causal, columns});
      for (int64_t r = 0; r < p.rows; ++r) std::fill(p[r] + seen, p[r] + columns, 0.0f);
    }
  });
  return weights;
}

at::Tensor dropped_weights(const Operands& operands, const at::Tensor& weights) {
  if (operands.drop(0, 0).threshold == 0) return weights;
  auto result = weights.clone();
  const int64_t rows = weights.size(1), columns = weights.size(2);
  at::parallel_for(0, weights.size(0), 1, [&](int64_t first, int64_t last) {
    for (int64_t h = first; h < last; ++h) {
      drop({Operands::matrix(result, 0, h).data, columns, rows, columns, 0, 0}, operands.drop(0, h));
    }
  });
  return result;
}

LengthSums::LengthSums(const Problem& p, const at::Tensor& weights) : rows_(p.rows()) {
  if (p.mask.causal || !p.mask.column_lengths.defined()) return;
  for (int64_t b = 0; b < p.batch(); ++b) lengths_.push_back(p.columns_of(b));
  std::sort(lengths_.begin(), lengths_.end());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
  for (int64_t b = 0; b < p.batch(); ++b) {
    index_.push_back(std::lower_bound(lengths_.begin(), lengths_.end(), p.columns_of(b)) - lengths_.begin());
  }
  const auto distinct = static_cast<int64_t>(lengths_.size());
  sums_.resize(p.heads() * rows_ * distinct);
  at::parallel_for(0, p.heads() * rows_, 64, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const Matrix head = Operands::matrix(weights, 0, row / rows_);
      const float* weight = head.data + row % rows_ * head.row_stride;
      double sum = 0;
      for (int64_t u = 0, j = 0; u < distinct; ++u) {
        for (; j < lengths_[u]; ++j) sum += weight[j];
        sums_[row * distinct + u] = static_cast<float>(sum);
      }
    }
  });
}

namespace {

/// Where a sample's columns have next to no weight in the whole row, P_ij / s_i has no digits left: such a
/// row is computed from the table itself.
void attend_stray_row(const Operands& operands, const at::Tensor& table, int64_t h, int64_t i,
                      const Matrix& value, float* out) {
  std::vector<float> row(value.rows);
  const Tile p{row.data(), value.rows, 1, value.rows, i, 0};
  put_table(p, table.const_data_ptr<float>() + h * table.stride(0), table.stride(1), false);
  softmax_rows(p, {false, value.rows});
  if (const Drop dropping = operands.drop(0, h); dropping.threshold != 0) drop(p, dropping);
  multiply(1, {p.data, 1, p.columns, p.stride, 1}, value, 0, {out, 1, value.columns, value.columns, 1});
}

}  // namespace

at::Tensor apply_global_weights(const Problem& p, const at::Tensor& weights) {
  const Operands operands(p);
  const auto dropped = dropped_weights(operands, weights);
  const LengthSums sums(p, weights);
  const auto table = sums.any() ? full_table(p) : at::Tensor();
  const int64_t batch = p.batch(), rows = p.rows();
  auto y = empty_result(p);
  auto out = y.scalar_type() == at::kFloat ? y : at::empty_like(y, at::kFloat);
  // Heads outermost: the weights of a head stay in the cache for the whole batch.
  at::parallel_for(0, p.heads() * batch, 1, [&](int64_t first, int64_t last) {
    Factor factor;
    for (int64_t task = first; task < last; ++task) {
      const int64_t h = task / batch, b = task % batch;
      const int64_t live = p.rows_of(b), n = p.columns_of(b);
      const Matrix to = Operands::matrix(out, b, h), value = operands.value(b, h).row_range(0, n);
      factor.take(value, rows);
      multiply(1, Operands::matrix(dropped, 0, h).row_range(0, live).column_range(0, n), factor, 0, 0, false,
               to.row_range(0, live), p.mask.causal ? Part{Part::Kind::inner_below, 0} : Part{});
      for (int64_t i = 0; i < rows; ++i) {
        float* row = to.data + i * to.row_stride;
        if (i >= live || n == 0) {
          std::fill_n(row, to.columns, 0.0f);
        } else if (sums.stray(b, h, i)) {
          attend_stray_row(operands, table, h, i, value, row);
        } else if (sums.any()) {
          const float factor = 1 / sums.of(b, h, i);
          scale_rows(row, to.row_stride, 1, to.columns, &factor);
        }
      }
    }
  });
  if (!out.is_same(y)) y.copy_(out);
  return y;
}

Result global_forward(const Problem& p) {
  auto weights = make_global_weights(full_table(p), p.mask.causal, p.rows());
  return {apply_global_weights(p, weights), weights};
}

}  // namespace synthesizer::kernel
