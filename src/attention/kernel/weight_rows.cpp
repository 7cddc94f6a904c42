#include "attention/kernel/weight_rows.h"

#include <ATen/ATen.h>

#include <cmath>

#include "attention/kernel/aligned_floats.h"

namespace synthesizer::kernel {

void make_weights(const Operands& operands, const Operands::Columns& columns, bool causal, int64_t begin,
                  int64_t end, const Matrix& to) {
  for (int64_t row = begin; row < end; row += kTileRows) {
    const int64_t rows = std::min(kTileRows, end - row);
    // Beyond the last column that a row of the tile sees there is nothing to compute.
    const int64_t seen = causal ? std::min(to.columns, row + rows) : to.columns;
    const Tile p{to.data + (row - begin) * to.row_stride, to.row_stride, rows, seen, row, 0};
    operands.form_logits(p, columns);
    softmax_rows(p, {causal, to.columns});
    for (int64_t r = 0; r < rows; ++r) {
      const bool diverged = seen > 0 && std::isnan(p[r][0]);
      std::fill(p[r] + (diverged ? 0 : seen), p[r] + to.columns, diverged ? p[r][0] : 0.0f);
    }
  }
}

int64_t WeightRows::block_rows(const Problem& p) {
  constexpr int64_t kCacheFloats = 1 << 18;  // 1 MiB, about what a core has to itself
  return std::max(kCacheFloats / std::max<int64_t>(p.columns(), 1) / kTileRows, int64_t{1}) * kTileRows;
}

WeightRows::WeightRows(const Problem& p, const Operands& operands, int64_t most, at::Tensor ready)
    : p_(p),
      operands_(operands),
      ready_(std::move(ready)),
      // Rows are set apart by a little, so that a column does not fall into one set of the cache.
      stride_(p.columns() + 16),
      any_sums_(p.mask.column_lengths.defined()) {
  auto allocate = [&] { return aligned_floats(static_cast<size_t>(std::max<int64_t>(most * stride_, 1))); };
  if (!ready_.defined()) own_ = allocate();
  if (p.dropout.probability > 0) own_dropped_ = allocate();
  if (!any_sums_) return;
  for (int64_t b = 0; b < p.batch(); ++b) distinct_.push_back(p.columns_of(b));
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  for (int64_t b = 0; b < p.batch(); ++b) {
    const auto found = std::lower_bound(distinct_.begin(), distinct_.end(), p.columns_of(b));
    index_.push_back(found - distinct_.begin());
  }
  sums_.resize(static_cast<size_t>(most) * distinct_.size());
}

void WeightRows::make(int64_t h, int64_t begin, int64_t end) {
  begin_ = begin;
  const int64_t rows = end - begin;
  if (ready_.defined()) {
    weights_ = Operands::matrix(ready_, 0, h).row_range(begin, end);
  } else {
    operands_.pack_columns(columns_, 0, h, p_.rows());
    weights_ = {own_.get(), rows, p_.columns(), stride_, 1};
    make_weights(operands_, columns_, p_.mask.causal, begin, end, weights_);
  }
  if (any_sums_) add_up();
  diverged_ = false;
  for (int64_t r = 0; r < rows && weights_.columns > 0; ++r) {
    diverged_ = diverged_ || std::isnan(weights_.data[r * weights_.row_stride]);
  }
  dropped_ = weights_;
  if (own_dropped_) {
    dropped_ = {own_dropped_.get(), rows, p_.columns(), stride_, 1};
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(weights_.data + r * weights_.row_stride, weights_.columns, dropped_.data + r * stride_);
    }
    apply_dropout({dropped_.data, stride_, rows, dropped_.columns, begin, 0}, operands_.dropout_mask(0, h));
  }
}

void WeightRows::add_up() {
  for (int64_t r = 0; r < weights_.rows; ++r) {
    float* weight = weights_.data + r * weights_.row_stride;
    double sum = 0;
    for (size_t u = 0, j = 0; u < distinct_.size(); ++u) {
      for (; j < static_cast<size_t>(distinct_[u]); ++j) sum += weight[j];
      sums_[static_cast<size_t>(r) * distinct_.size() + u] = static_cast<float>(sum);
    }
    // No sample uses such a row, and it must not reach the products of the others.
    if (std::isnan(sum)) std::fill_n(weight, weights_.columns, 0.0f);
  }
}

void WeightRows::make_underflowed_row(int64_t i, int64_t n, float* row) const {
  const Tile p{row, n, 1, n, i, 0};
  operands_.form_logits(p, columns_);
  softmax_rows(p, {p_.mask.causal, n});
}

}  // namespace synthesizer::kernel
