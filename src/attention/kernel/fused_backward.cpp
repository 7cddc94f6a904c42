// Backward, block by block: the weights of a block are made again from the logits and the saved log-sums.
//
// Gradients that belong to one sample and head (query, key, row, left, right, value) are written by the one
// thread that works on that sample and head. Those that the batch shares (column, table) are summed over the
// samples by one thread a head, in the order of the batch; where there are fewer heads than threads, the
// batch is cut into groups with sums of their own, added at the end in a fixed order. Same threads, same
// bits.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <hwy/aligned_allocator.h>

#include <array>
#include <vector>

#include "attention/kernel/operands.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

/// What one thread works with: two tiles, and the factors of all the products.
struct BackwardScratch {
  hwy::AlignedFreeUniquePtr<float[]> s = hwy::AllocateAligned<float>(kTileRows * kTileStride);
  hwy::AlignedFreeUniquePtr<float[]> g = hwy::AllocateAligned<float>(kTileRows * kTileStride);
  std::array<float, kTileRows> delta;
  Operands::Columns columns;
  Factor value;             // K×M
  Factor keys, shared;      // M×F and M×G: what the columns bring, the other way round
  Factor grad, query, row;  // of one block of rows
  int64_t head = -1;        // that `shared` is of
};

void clear(const Matrix& m) {
  for (int64_t i = 0; i < m.rows; ++i) std::fill_n(m.data + i * m.row_stride, m.columns, 0.0f);
}

class FusedBackward {
 public:
  FusedBackward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                const at::Tensor& lse, const Wanted& wanted)
      : p_(problem),
        operands_(problem),
        grad_(rows_usable(grad)),
        result_(rows_usable(result)),
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
    to_.row = like(wanted.row, l.row);
    to_.left = like(wanted.left || wanted.right, l.left);
    to_.right = like(wanted.left || wanted.right, l.right);
    to_.value = like(wanted.value, p_.value);
    to_.column = like(wanted.column, l.column);
    to_.table = like(wanted.table, l.table);
    for (const at::Tensor* t : {&to_.column, &to_.table}) {
      if (t->defined()) t->zero_();
    }

    const int64_t threads = at::get_num_threads();
    const bool shared = to_.column.defined() || to_.table.defined();
    groups_ = shared ? blocks(threads, std::max<int64_t>(p_.heads(), 1)) : p_.batch();
    groups_ = std::clamp<int64_t>(groups_, 1, std::max<int64_t>(p_.batch(), 1));
    for (int64_t g = 0; shared && g < groups_; ++g) {
      // The first group sums in place.
      auto own = [g](const at::Tensor& t) { return g == 0 || !t.defined() ? t : at::zeros_like(t); };
      shared_.push_back({own(to_.column), own(to_.table)});
    }
  }

  Gradients run() {
    at::parallel_for(0, p_.heads() * groups_, 1, [&](int64_t first, int64_t last) {
      BackwardScratch scratch;
      for (int64_t task = first; task < last; ++task) {
        const int64_t h = task / groups_, group = task % groups_;
        for (int64_t b = group * p_.batch() / groups_; b < (group + 1) * p_.batch() / groups_; ++b) {
          one_matrix(b, h, group, scratch);
        }
      }
    });
    for (size_t g = 1; g < shared_.size(); ++g) {
      if (to_.column.defined()) to_.column += shared_[g].column;
      if (to_.table.defined()) to_.table += shared_[g].table;
    }
    return to_;
  }

 private:
  struct Shared {
    at::Tensor column, table;
  };

  void one_matrix(int64_t b, int64_t h, int64_t group, BackwardScratch& scratch) {
    // Cleared here and not before: the memory stays in the cache until it is added to.
    for (const at::Tensor* t : {&to_.query, &to_.key, &to_.row, &to_.left, &to_.right, &to_.value}) {
      if (t->defined()) clear(Operands::matrix(*t, b, h));
    }
    const int64_t all_rows = p_.rows(), rows = p_.rows_of(b);
    operands_.take_columns(scratch.columns, b, h, all_rows);
    scratch.value.take(operands_.value(b, h).transposed(), all_rows);
    if (to_.query.defined()) scratch.keys.take(operands_.key(b, h), all_rows);
    if (to_.row.defined() && scratch.head != h) scratch.shared.take(operands_.column(h), all_rows);
    scratch.head = h;

    const Visible visible = operands_.visible(b);
    for (int64_t begin = 0; begin < rows; begin += kTileRows) {
      const int64_t end = std::min(begin + kTileRows, rows);
      const Matrix dy = Operands::matrix(grad_, b, h).row_range(begin, end);
      const Matrix y = Operands::matrix(result_, b, h).row_range(begin, end);
      row_products(dy.data, dy.row_stride, y.data, y.row_stride, end - begin, y.columns,
                   scratch.delta.data());
      const int64_t last = visible.causal ? std::min(visible.columns, end) : visible.columns;
      if (to_.value.defined()) scratch.grad.take(dy, last);
      if (to_.key.defined()) scratch.query.take(operands_.query(b, h).row_range(begin, end), last);
      if (to_.column.defined()) scratch.row.take(operands_.row(b, h).row_range(begin, end), last);
      for (int64_t column = 0; column < last; column += kTileColumns) {
        const int64_t columns = std::min(kTileColumns, last - column);
        const Tile s{scratch.s.get(), kTileStride, end - begin, columns, begin, column};
        const Tile g{scratch.g.get(), kTileStride, end - begin, columns, begin, column};
        one_tile(b, h, group, s, g, dy, scratch);
      }
    }
  }

  void one_tile(int64_t b, int64_t h, int64_t group, const Tile& s, const Tile& g, const Matrix& dy,
                const BackwardScratch& scratch) {
    const bool causal = p_.mask.causal;
    const auto scale = static_cast<float>(p_.logits.scale);
    const float* lse = lse_.const_data_ptr<float>() + (b * p_.heads() + h) * p_.rows() + s.row;

    operands_.form_logits(s, scratch.columns);
    multiply(1, dy, scratch.value, 0, s.column, false, g.matrix(), wanted_columns(s, causal));
    softmax_backward(s, g, operands_.visible(b), lse, scratch.delta.data(), operands_.drop(b, h));

    /// Rows of the tile: target += alpha · t · factor.
    auto add_rows = [&](float alpha, const Tile& t, const Factor& factor, const at::Tensor& target) {
      if (!target.defined()) return;
      const Matrix out = Operands::matrix(target, b, h).row_range(t.row, t.row + t.rows);
      multiply(alpha, t.matrix(), factor, t.column, 0, true, out, inner_columns(t, causal));
    };
    /// Columns of the tile: target += alpha · tᵀ · factor.
    auto add_columns = [&](float alpha, const Tile& t, const Factor& factor, const at::Tensor& target) {
      if (!target.defined()) return;
      const Matrix out = Operands::matrix(target, b, h).row_range(t.column, t.column + t.columns);
      multiply(alpha, t.matrix().transposed(), factor, 0, 0, true, out, inner_rows(t, causal));
    };
    add_columns(1, s, scratch.grad, to_.value);
    add_rows(scale, g, scratch.keys, to_.query);
    add_columns(scale, g, scratch.query, to_.key);
    add_rows(1, g, scratch.shared, to_.row);
    if (!shared_.empty()) {
      add_columns(1, g, scratch.row, shared_[group].column);
      if (const at::Tensor& sum = shared_[group].table; sum.defined()) {
        add_to_table(g, sum.data_ptr<float>() + h * sum.stride(0), sum.size(1) == 1 ? 0 : sum.stride(1));
      }
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
  std::vector<Shared> shared_;
};

}  // namespace

Gradients fused_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                         const at::Tensor& lse, const Wanted& wanted) {
  return FusedBackward(problem, grad, result, lse, wanted).run();
}

}  // namespace synthesizer::kernel
