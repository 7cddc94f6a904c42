// Backward of the global path. With P the weights, s the sums of a sample's columns (see global.cpp), y = P v
// / s:
//
//     dv_j = Σ_i P_ij dy_i / s_i
//     dS_ij = P_ij ( Σ_b [dy_i · v_j]_b / s_ib  -  Σ_{b: n_b > j} [dy_i · y_i]_b / s_ib )
//
// Both products are folded over the batch head by head; every entry of a gradient is written by one thread,
// the samples added in their order.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/head_weights.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

class GlobalBackward {
 public:
  GlobalBackward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                 const Wanted& wanted)
      : p_(problem), operands_(problem), table_(full_table(problem)), grad_(rows_usable(grad)) {
    if (wanted.value) {
      to_.value = at::empty_like(p_.value, at::kFloat);
      if (to_.value.stride(-1) != 1) to_.value = at::empty(p_.value.sizes(), to_.value.options());
    }
    if (wanted.table && p_.logits.table.defined()) {
      to_.table = at::empty({p_.heads(), p_.rows(), p_.columns()}, grad_.options());
    }
    delta_ = at::zeros({p_.batch(), p_.heads(), p_.rows()}, grad_.options());
    // What is divided by the sums is a copy.
    scaled_ = p_.mask.column_lengths.defined() ? grad_.clone() : grad_;
    result_ = rows_usable(result);
  }

  Gradients run() {
    // One task a head, or several where there are fewer heads than threads: a part takes its share of the
    // samples for the values' gradient and of the rows for the table's.
    const int64_t parts = blocks(at::get_num_threads(), std::max<int64_t>(p_.heads(), 1));
    if (to_.table.defined()) {
      at::parallel_for(0, p_.batch() * p_.heads(), 1, [&](int64_t first, int64_t last) {
        for (int64_t t = first; t < last; ++t) take_inner_products(t / p_.heads(), t % p_.heads());
      });
    }
    if (p_.mask.column_lengths.defined()) {
      at::parallel_for(0, p_.heads(), 1, [&](int64_t first, int64_t last) {
        HeadWeights head(p_, operands_, table_, {});
        for (int64_t h = first; h < last; ++h) {
          head.make(h, 0, p_.rows());
          for (int64_t b = 0; b < p_.batch(); ++b) divide_by_sums(head, b, h);
        }
      });
    }
    at::parallel_for(0, p_.heads() * parts, 1, [&](int64_t first, int64_t last) {
      HeadWeights head(p_, operands_, table_, {});
      Factor factor;
      std::vector<Factor> values(p_.batch());
      std::vector<float> shift(kTileRows * kTileColumns);
      for (int64_t task = first; task < last; ++task) {
        const int64_t h = task / parts, part = task % parts;
        head.make(h, 0, p_.rows());
        for (int64_t b = part; to_.value.defined() && b < p_.batch(); b += parts)
          value_gradient(head, b, h, factor);
        if (to_.table.defined()) table_gradient(head, h, part, parts, values, shift.data());
      }
    });
    return to_;
  }

 private:
  float* delta(int64_t b, int64_t h) { return delta_.data_ptr<float>() + (b * p_.heads() + h) * p_.rows(); }
  int64_t live_rows(int64_t b) const { return p_.columns_of(b) > 0 ? p_.rows_of(b) : 0; }

  void take_inner_products(int64_t b, int64_t h) {
    const Matrix dy = Operands::matrix(grad_, b, h), y = Operands::matrix(result_, b, h);
    row_products(dy.data, dy.row_stride, y.data, y.row_stride, live_rows(b), dy.columns, delta(b, h));
  }

  /// dy / s and delta / s; zero where a row does not count, or is stray and dealt with by itself.
  void divide_by_sums(const HeadWeights& head, int64_t b, int64_t h) {
    const Matrix dy = Operands::matrix(scaled_, b, h);
    for (int64_t i = 0; i < dy.rows; ++i) {
      const float factor = i < live_rows(b) && !head.stray(b, i) ? 1 / head.sum(b, i) : 0;
      scale_rows(dy.data + i * dy.row_stride, dy.row_stride, 1, dy.columns, &factor);
      delta(b, h)[i] *= factor;
    }
  }

  void value_gradient(const HeadWeights& head, int64_t b, int64_t h, Factor& factor) {
    const int64_t rows = p_.rows_of(b), n = p_.columns_of(b);
    const Matrix target = Operands::matrix(to_.value, b, h);
    factor.take(Operands::matrix(scaled_, b, h).row_range(0, rows), n);
    multiply(1, head.dropped().row_range(0, rows).column_range(0, n).transposed(), factor, 0, 0, false,
             target.row_range(0, n), p_.mask.causal ? Part{Part::Kind::inner_from, 0} : Part{});
    for (int64_t j = n; j < target.rows; ++j) {
      std::fill_n(target.data + j * target.row_stride, target.columns, 0.0f);
    }
    for (int64_t i = 0; i < live_rows(b); ++i) {
      if (!head.stray(b, i)) continue;
      const StrayRow row(*this, head, b, h, i);
      multiply(1, {const_cast<float*>(row.kept.data()), n, 1, 1, 1}, row.dy, 1, target.row_range(0, n));
    }
  }

  void table_gradient(const HeadWeights& head, int64_t h, int64_t part, int64_t parts,
                      std::vector<Factor>& values, float* shift) {
    for (int64_t b = 0; b < p_.batch(); ++b) values[b].take(operands_.value(b, h).transposed(), p_.rows());
    const Matrix out = Operands::matrix(to_.table, 0, h);
    for (int64_t block = part; block < blocks(p_.rows(), kTileRows); block += parts) {
      const int64_t row = block * kTileRows, rows = std::min(kTileRows, p_.rows() - row);
      for (int64_t column = 0; column < p_.columns(); column += kTileColumns) {
        const int64_t columns = std::min(kTileColumns, p_.columns() - column);
        float* corner = out.data + row * out.row_stride + column;
        table_tile(head, h, {corner, out.row_stride, rows, columns, row, column}, values, shift);
      }
      for (int64_t b = 0; head.any_sums() && b < p_.batch(); ++b) {
        for (int64_t i = row; i < std::min(row + rows, live_rows(b)); ++i) {
          if (head.stray(b, i)) add_stray_row(head, b, h, i, out);
        }
      }
    }
  }

  void table_tile(const HeadWeights& head, int64_t h, const Tile& g, const std::vector<Factor>& values,
                  float* shift) {
    const int64_t row_end = g.row + g.rows, column_end = g.column + g.columns;
    // Where samples differ in length, some don't reach into every entry; otherwise the first one writes them
    // all.
    const bool ragged = p_.mask.row_lengths.defined() || p_.mask.column_lengths.defined();
    const bool unseen = p_.mask.causal && g.column >= row_end;
    for (int64_t r = 0; (ragged || unseen || p_.batch() == 0) && r < g.rows; ++r)
      std::fill_n(g[r], g.columns, 0.0f);
    if (unseen) return;
    // Only column lengths make the sum over samples differ from column to column.
    const int64_t stride = head.any_sums() ? g.columns : 0, width = std::max<int64_t>(stride, 1);
    std::fill_n(shift, g.rows * width, 0.0f);
    for (int64_t b = 0; b < p_.batch(); ++b) {
      const int64_t rows = std::clamp(p_.rows_of(b), g.row, row_end) - g.row;
      int64_t columns = std::clamp(p_.columns_of(b), g.column, column_end) - g.column;
      if (p_.mask.causal) columns = std::min(columns, row_end - g.column);
      multiply(1, Operands::matrix(scaled_, b, h).row_range(g.row, g.row + rows), values[b], 0, g.column,
               ragged || b > 0, {g.data, rows, columns, g.stride, 1}, wanted_columns(g, p_.mask.causal));
      for (int64_t r = 0; r < rows; ++r) {
        const float down = delta(b, h)[g.row + r];
        for (int64_t j = 0; j < std::min(columns, width); ++j) shift[r * width + j] += down;
      }
    }
    const Matrix& weight = head.weights();
    const Tile p{weight.data + g.row * weight.row_stride + g.column,
                 weight.row_stride,
                 g.rows,
                 g.columns,
                 g.row,
                 g.column};
    weights_backward(p, g, {p_.mask.causal, p_.columns()}, shift, stride, operands_.drop(0, h));
  }

  /// A stray row's own weights, before and after dropout, and its incoming gradient, undivided.
  struct StrayRow {
    StrayRow(const GlobalBackward& all, const HeadWeights& head, int64_t b, int64_t h, int64_t i)
        : weight(all.p_.columns_of(b)), dy(Operands::matrix(all.grad_, b, h).row_range(i, i + 1)) {
      const auto n = static_cast<int64_t>(weight.size());
      head.make_stray_row(i, n, weight.data());
      kept = weight;
      const Drop dropping = all.operands_.drop(0, h);
      if (dropping.threshold != 0) drop({kept.data(), n, 1, n, i, 0}, dropping);
    }
    std::vector<float> weight, kept;
    Matrix dy;
  };

  void add_stray_row(const HeadWeights& head, int64_t b, int64_t h, int64_t i, const Matrix& out) {
    StrayRow row(*this, head, b, h, i);
    const int64_t n = p_.columns_of(b);
    std::vector<float> gradient(n);
    multiply(1, row.dy, operands_.value(b, h).row_range(0, n).transposed(), 0, {gradient.data(), 1, n, n, 1});
    float inner = 0;
    row_products(row.kept.data(), n, gradient.data(), n, 1, n, &inner);
    const Tile g{gradient.data(), n, 1, n, i, 0};
    weights_backward({row.weight.data(), n, 1, n, i, 0}, g, {p_.mask.causal, n}, &inner, 0,
                     operands_.drop(0, h));
    add_to_table(g, out.data, out.row_stride);
  }

  const Problem& p_;
  Operands operands_;
  at::Tensor table_, grad_, scaled_, result_, delta_;
  Gradients to_;
};

}  // namespace

Gradients global_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                          const Wanted& wanted) {
  Gradients to = GlobalBackward(problem, grad, result, wanted).run();
  if (to.table.defined() && problem.logits.table.size(1) != to.table.size(1)) {
    to.table = to.table.sum(1, /*keepdim=*/true);
  }
  return to;
}

}  // namespace synthesizer::kernel
