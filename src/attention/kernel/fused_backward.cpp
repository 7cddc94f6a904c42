// Backward, block by block: the weights of a block are made again from the logits and the saved log-sums.
//
// Gradients that belong to one sample and head (query, key, row, left, right, bias, value) are written by the
// one thread that works on that sample and head. Those that the batch shares (column, table) are summed over
// the samples by one thread a head, in the order of the batch; where there are fewer heads than threads, the
// batch is cut into groups with sums of their own, added at the end in a fixed order. Same threads, same
// bits.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/gradient_memory.h"
#include "attention/kernel/operands.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

/// What one thread works with: two tiles, and the factors of all the products.
struct BackwardScratch {
  AlignedFloats s = aligned_floats(kTileRows * kTileStride);
  AlignedFloats g = aligned_floats(kTileRows * kTileStride);
  std::array<float, kTileRows> delta;
  Operands::Columns columns;
  Factor value;             // K×M
  Factor keys, shared;      // M×F and M×G: what the columns bring, the other way round
  Factor grad, query, row;  // of one block of rows
  int64_t head = -1;        // that `shared` is of
  // What a causal mask hides is not multiplied, unless 0 · NaN or 0 · infinity shows there, as in PyTorch.
  bool triangular = false;
  bool first_sample = false;  // of its group: a table's gradient is written, not added to
};

void clear(const Matrix& m) {
  for (int64_t i = 0; i < m.rows; ++i) std::fill_n(m.data + i * m.row_stride, m.columns, 0.0f);
}

class FusedBackward {
 public:
  FusedBackward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                const at::Tensor& lse, const NeededGradients& wanted)
      : p_(problem),
        operands_(problem),
        grad_(with_contiguous_rows(grad)),
        result_(with_contiguous_rows(result)),
        lse_(lse),
        groups_(1) {
    auto like = [](bool wanted, const at::Tensor& t) {
      if (!wanted || !t.defined()) return at::Tensor();
      auto g = at::empty_like(t, at::kFloat);  // laid out as its input where rows stay rows
      return g.stride(-1) == 1 ? g : at::empty(t.sizes(), g.options());
    };
    const Logits& l = p_.logits;
    to_.query = like(wanted.query, l.query);
    to_.key = like(wanted.key, l.key);
    to_.row = like(wanted.row, l.row);  // H×L×G: summed over the batch, as `column` is
    to_.left = like(wanted.left || wanted.right, l.left);
    to_.right = like(wanted.left || wanted.right, l.right);
    to_.value = like(wanted.value, p_.value);
    to_.column = like(wanted.column, l.column);
    if (wanted.table && l.table.defined()) to_.table = gradient_memory(l.table.sizes());
    to_.bias = like(wanted.bias, l.bias);
    of_scale_ = wanted.table_scale && l.table_scale.defined();
    for (const at::Tensor* t : {&to_.column, &to_.row}) {
      if (t->defined() && t->dim() == 3) t->zero_();
    }
    one_row_table_ = l.table.defined() && l.table.size(1) == 1;
    if (to_.table.defined() && one_row_table_) to_.table.zero_();

    const int64_t threads = at::get_num_threads();
    const bool shared_rows = to_.row.defined() && to_.row.dim() == 3;
    const bool shared = to_.column.defined() || to_.table.defined() || shared_rows || of_scale_;
    groups_ = shared ? blocks(threads, std::max<int64_t>(p_.heads(), 1)) : p_.batch();
    groups_ = std::clamp<int64_t>(groups_, 1, std::max<int64_t>(p_.batch(), 1));
    for (int64_t g = 0; shared && g < groups_; ++g) {
      // The first group sums in place.
      auto own = [g](const at::Tensor& t) { return g == 0 || !t.defined() ? t : at::zeros_like(t); };
      shared_.push_back({own(to_.column), shared_rows ? own(to_.row) : at::Tensor(), own(to_.table),
                         std::vector<double>(of_scale_ ? p_.heads() : 0)});
    }
  }

  Gradients run() {
    at::parallel_for(0, p_.heads() * groups_, 1, [&](int64_t first, int64_t last) {
      BackwardScratch scratch;
      for (int64_t task = first; task < last; ++task) {
        const int64_t h = task / groups_, group = task % groups_;
        const int64_t first_sample = group * p_.batch() / groups_, end = (group + 1) * p_.batch() / groups_;
        if (first_sample == end) clear_table(h, group, 0, p_.rows(), 0);
        for (int64_t b = first_sample; b < end; ++b) {
          scratch.first_sample = b == first_sample;
          one_matrix(b, h, group, scratch);
        }
      }
    });
    for (size_t g = 1; g < shared_.size(); ++g) {
      if (to_.column.defined()) to_.column += shared_[g].column;
      if (shared_[g].row.defined()) to_.row += shared_[g].row;
      if (to_.table.defined()) to_.table += shared_[g].table;
      for (size_t h = 0; h < shared_[g].scale.size(); ++h) shared_[0].scale[h] += shared_[g].scale[h];
    }
    if (of_scale_) {
      to_.table_scale = at::tensor(at::ArrayRef<double>(shared_[0].scale)).to(at::kFloat);
      if (p_.logits.table_scale.size(0) == 1) to_.table_scale = to_.table_scale.sum(0, /*keepdim=*/true);
    }
    return to_;
  }

 private:
  /// Sums over the samples of one group.
  struct Shared {
    at::Tensor column, row, table;
    std::vector<double> scale;  ///< the gradient of table_scale, one per head
  };

  /// Zeros in rows [begin, end) of the table's gradient, from a column on: what the first sample does not
  /// reach.
  void clear_table(int64_t h, int64_t group, int64_t begin, int64_t end, int64_t column) {
    if (shared_.empty() || !shared_[group].table.defined() || one_row_table_) return;
    const Matrix table = Operands::matrix(shared_[group].table, 0, h);
    for (int64_t i = begin; i < end; ++i) {
      float* row = table.data + i * table.row_stride;
      std::fill(row + column, row + table.columns, 0.0f);
    }
  }

  void one_matrix(int64_t b, int64_t h, int64_t group, BackwardScratch& scratch) {
    // Cleared here and not before: the memory stays in the cache until it is added to.
    for (const at::Tensor* t :
         {&to_.query, &to_.key, &to_.row, &to_.left, &to_.right, &to_.value, &to_.bias}) {
      if (t->defined() && t->dim() == 4) clear(Operands::matrix(*t, b, h));
    }
    const int64_t all_rows = p_.rows(), rows = p_.rows_of(b);
    // As in the forward pass: logits that rounded otherwise there would not fit their sum.
    operands_.pack_columns(scratch.columns, b, h, rows);
    scratch.value.pack(operands_.value(b, h).transposed(), all_rows);
    if (to_.query.defined()) scratch.keys.pack(operands_.key(b, h), all_rows);
    if (to_.row.defined() && scratch.head != h) scratch.shared.pack(operands_.column(h), all_rows);
    scratch.head = h;

    const Visible visible = operands_.visible(b);
    const float* lse = lse_.const_data_ptr<float>() + (b * p_.heads() + h) * all_rows;
    scratch.triangular = visible.causal && operands_.finite_features(b, h) &&
                         std::none_of(lse, lse + rows, [](float sum) { return std::isnan(sum); });
    for (int64_t begin = 0; begin < rows; begin += kTileRows) {
      const int64_t end = std::min(begin + kTileRows, rows);
      const Matrix dy = Operands::matrix(grad_, b, h).row_range(begin, end);
      const Matrix y = Operands::matrix(result_, b, h).row_range(begin, end);
      row_products(dy.data, dy.row_stride, y.data, y.row_stride, end - begin, y.columns,
                   scratch.delta.data());
      const int64_t last = scratch.triangular ? std::min(visible.columns, end) : visible.columns;
      if (to_.value.defined()) scratch.grad.pack(dy, last);
      if (to_.key.defined()) scratch.query.pack(operands_.query(b, h).row_range(begin, end), last);
      if (to_.column.defined()) scratch.row.pack(operands_.row(b, h).row_range(begin, end), last);
      for (int64_t column = 0; column < last; column += kTileColumns) {
        const int64_t columns = std::min(kTileColumns, last - column);
        const Tile s{scratch.s.get(), kTileStride, end - begin, columns, begin, column};
        const Tile g{scratch.g.get(), kTileStride, end - begin, columns, begin, column};
        one_tile(b, h, group, s, g, dy, scratch);
      }
      if (scratch.first_sample) clear_table(h, group, begin, end, last);
    }
    if (scratch.first_sample) clear_table(h, group, rows, all_rows, 0);
  }

  void one_tile(int64_t b, int64_t h, int64_t group, const Tile& s, const Tile& g, const Matrix& dy,
                const BackwardScratch& scratch) {
    const bool triangular = scratch.triangular;
    const auto scale = static_cast<float>(p_.logits.scale);
    const float* lse = lse_.const_data_ptr<float>() + (b * p_.heads() + h) * p_.rows() + s.row;

    operands_.form_logits(s, scratch.columns);
    multiply(1, dy, scratch.value, 0, s.column, false, g.matrix(), wanted_columns(s, triangular));
    softmax_backward(s, g, operands_.visible(b), lse, scratch.delta.data(), operands_.dropout_mask(b, h));

    /// Rows of the tile: target += alpha · t · factor.
    auto add_rows = [&](float alpha, const Tile& t, const Factor& factor, const at::Tensor& target) {
      if (!target.defined()) return;
      const Matrix out = Operands::matrix(target, b, h).row_range(t.row, t.row + t.rows);
      multiply(alpha, t.matrix(), factor, t.column, 0, true, out, inner_columns(t, triangular));
    };
    /// Columns of the tile: target += alpha · tᵀ · factor.
    auto add_columns = [&](float alpha, const Tile& t, const Factor& factor, const at::Tensor& target) {
      if (!target.defined()) return;
      const Matrix out = Operands::matrix(target, b, h).row_range(t.column, t.column + t.columns);
      multiply(alpha, t.matrix().transposed(), factor, 0, 0, true, out, inner_rows(t, triangular));
    };
    add_columns(1, s, scratch.grad, to_.value);
    add_rows(scale, g, scratch.keys, to_.query);
    add_columns(scale, g, scratch.query, to_.key);
    if (to_.row.defined()) {
      add_rows(1, g, scratch.shared, to_.row.dim() == 3 ? shared_[group].row : to_.row);
    }
    if (!shared_.empty()) {
      Shared& sum = shared_[group];
      add_columns(1, g, scratch.row, sum.column);
      if (of_scale_) sum.scale[h] += table_product(g, operands_.table(h), operands_.visible(b));
      if (sum.table.defined()) {
        put_table_gradient(g, operands_.table(h).scale, !scratch.first_sample,
                           sum.table.data_ptr<float>() + h * sum.table.stride(0),
                           one_row_table_ ? 0 : sum.table.stride(1));
      }
    }
    if (to_.bias.defined()) {
      const Matrix own = Operands::matrix(to_.bias, b, h);
      put_table_gradient(g, 1, /*add=*/false, own.data, own.row_stride);
    }
    if (to_.left.defined()) {
      const Matrix l = Operands::matrix(to_.left, b, h), r = Operands::matrix(to_.right, b, h);
      outer_backward(g, operands_.outer(b, h), l.data, l.row_stride, r.data, r.row_stride);
    }
  }

  const Problem& p_;
  Operands operands_;
  at::Tensor grad_, result_, lse_;
  Gradients to_;
  int64_t groups_;
  bool of_scale_ = false, one_row_table_ = false;
  std::vector<Shared> shared_;
};

}  // namespace

Gradients fused_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                         const at::Tensor& lse, const NeededGradients& wanted) {
  return FusedBackward(problem, grad, result, lse, wanted).run();
}

}  // namespace synthesizer::kernel
