#include "attention/kernel/head_weights.h"

#include <ATen/ATen.h>

namespace synthesizer::kernel {

at::Tensor full_table(const Problem& p) {
  if (!p.logits.table.defined()) {
    return at::zeros({p.heads(), p.rows(), p.columns()}, p.value.options().dtype(at::kFloat));
  }
  auto table = p.logits.table.to(at::kFloat).expand({p.heads(), p.rows(), p.columns()});
  return table.stride(-1) == 1 ? table : table.contiguous();
}

void make_weights(const at::Tensor& table, int64_t h, bool causal, int64_t begin, int64_t end,
                  const Matrix& to) {
  const float* from = table.const_data_ptr<float>() + h * table.stride(0);
  for (int64_t row = begin; row < end;
       row += kTileRows) {  // block by block: from the table to weights in the cache
    const int64_t rows = std::min(kTileRows, end - row);
    // Beyond the last column that a row of the block sees there is nothing to compute.
    const int64_t seen = causal ? std::min(to.columns, row + rows) : to.columns;
    const Tile p{to.data + row * to.row_stride, to.row_stride, rows, seen, row, 0};
    put_table(p, from, table.stride(1), false);
    softmax_rows(p, {causal, to.columns});
    for (int64_t r = 0; r < rows; ++r) std::fill(p[r] + seen, p[r] + to.columns, 0.0f);
  }
}

HeadWeights::HeadWeights(const Problem& p, const Operands& operands, at::Tensor table, at::Tensor ready)
    : p_(p),
      operands_(operands),
      table_(std::move(table)),
      ready_(std::move(ready)),
      any_(p.mask.column_lengths.defined()) {
  // Rows are set apart by a little, so that a column does not fall into one set of the cache.
  const int64_t rows = p.rows(), columns = p.columns(), stride = columns + 16;
  auto allocate = [&] {
    return hwy::AllocateAligned<float>(static_cast<size_t>(std::max<int64_t>(rows * stride, 1)));
  };
  if (!ready_.defined()) {
    own_ = allocate();
    weights_ = dropped_ = {own_.get(), rows, columns, stride, 1};
  }
  if (p.dropout.probability > 0) {
    own_dropped_ = allocate();
    dropped_ = {own_dropped_.get(), rows, columns, stride, 1};
  }
  if (!any_) return;
  for (int64_t b = 0; b < p.batch(); ++b) distinct_.push_back(p.columns_of(b));
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  for (int64_t b = 0; b < p.batch(); ++b) {
    const auto found = std::lower_bound(distinct_.begin(), distinct_.end(), p.columns_of(b));
    index_.push_back(found - distinct_.begin());
  }
  sums_.resize(static_cast<size_t>(rows) * distinct_.size());
}

void HeadWeights::make(int64_t h, int64_t begin, int64_t end) {
  head_ = h;
  if (ready_.defined()) {
    weights_ = Operands::matrix(ready_, 0, h);
    if (!own_dropped_) dropped_ = weights_;
  } else {
    make_weights(table_, h, p_.mask.causal, begin, end, weights_);
  }
  if (own_dropped_) {
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(weights_.data + i * weights_.row_stride, weights_.columns,
                  dropped_.data + i * dropped_.row_stride);
    }
    drop({dropped_.data + begin * dropped_.row_stride, dropped_.row_stride, end - begin, dropped_.columns,
          begin, 0},
         operands_.drop(0, h));
  }
  if (any_) add_up(begin, end);
}

void HeadWeights::add_up(int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* weight = weights_.data + i * weights_.row_stride;
    double sum = 0;
    for (size_t u = 0, j = 0; u < distinct_.size(); ++u) {
      for (; j < static_cast<size_t>(distinct_[u]); ++j) sum += weight[j];
      sums_[static_cast<size_t>(i) * distinct_.size() + u] = static_cast<float>(sum);
    }
  }
}

void HeadWeights::make_stray_row(int64_t i, int64_t n, float* row) const {
  const Tile p{row, n, 1, n, i, 0};
  put_table(p, table_.const_data_ptr<float>() + head_ * table_.stride(0), table_.stride(1), false);
  softmax_rows(p, {p_.mask.causal, n});
}

}  // namespace synthesizer::kernel
