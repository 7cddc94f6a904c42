// Backward of the global path. With P the weights, s the sums of a sample's columns (see global.cpp), y = P v
// / s:
//
//     dv_j = Σ_i P_ij dy_i / s_i
//     dS_ij = P_ij ( Σ_b [dy_i · v_j]_b / s_ib  -  Σ_{b: n_b > j} [dy_i · y_i]_b / s_ib )
//
// Both products are folded over the batch head by head; every entry of the table's gradient is written by one
// thread, the samples added in their order.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "attention/kernel/global.h"
#include "attention/kernel/paths.h"

namespace synthesizer::kernel {
namespace {

class Backward {
 public:
  Backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
           const at::Tensor& weights)
      : p_(problem),
        operands_(problem),
        weights_(weights),
        dropped_(dropped_weights(operands_, weights)),
        sums_(problem, weights),
        grad_(usable(grad)) {
    if (grad_.stride(-1) != 1) grad_ = grad_.contiguous();
    delta_ = at::zeros({p_.batch(), p_.heads(), p_.rows()}, grad_.options());
    const auto y = usable(result);
    if (sums_.any()) grad_ = grad_.clone();  // it is divided by the sums below
    at::parallel_for(0, p_.batch() * p_.heads(), 1, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) prepare(t / p_.heads(), t % p_.heads(), y);
    });
  }

  at::Tensor value_gradient() {
    auto to = at::empty_like(p_.value, at::kFloat);
    if (to.stride(-1) != 1) to = at::empty(to.sizes(), to.options());
    at::parallel_for(0, p_.heads() * p_.batch(), 1, [&](int64_t first, int64_t last) {
      Factor factor;
      for (int64_t task = first; task < last; ++task) {
        const int64_t h = task / p_.batch(), b = task % p_.batch();
        const int64_t rows = p_.rows_of(b), seen = p_.columns_of(b);
        const Matrix target = Operands::matrix(to, b, h);
        factor.take(Operands::matrix(grad_, b, h).row_range(0, rows), seen);
        const Matrix weight = Operands::matrix(dropped_, 0, h).row_range(0, rows).column_range(0, seen);
        multiply(1, weight.transposed(), factor, 0, 0, false, target.row_range(0, seen),
                 p_.mask.causal ? Part{Part::Kind::inner_from, 0} : Part{});
        for (int64_t j = seen; j < target.rows; ++j) {
          std::fill_n(target.data + j * target.row_stride, target.columns, 0.0f);
        }
      }
    });
    return to;
  }

  /// H×L×M; the caller sums the rows where the table has but one.
  at::Tensor table_gradient() {
    auto to = at::empty({p_.heads(), p_.rows(), p_.columns()}, grad_.options());
    // One task a head, or several where there are fewer heads than threads: each packs the whole batch's
    // values.
    const int64_t parts = blocks(at::get_num_threads(), std::max<int64_t>(p_.heads(), 1));
    const int64_t row_blocks = blocks(p_.rows(), kTileRows);
    at::parallel_for(0, p_.heads() * parts, 1, [&](int64_t first, int64_t last) {
      std::vector<Factor> values(p_.batch());
      std::vector<float> shift(kTileRows * kTileColumns);
      for (int64_t task = first; task < last; ++task) {
        const int64_t h = task / parts, part = task % parts;
        for (int64_t b = 0; b < p_.batch(); ++b) {
          values[b].take(operands_.value(b, h).transposed(), p_.rows());
        }
        const Matrix out = Operands::matrix(to, 0, h);
        for (int64_t block = part; block < row_blocks; block += parts) {
          const int64_t row = block * kTileRows, rows = std::min(kTileRows, p_.rows() - row);
          for (int64_t column = 0; column < p_.columns(); column += kTileColumns) {
            const int64_t columns = std::min(kTileColumns, p_.columns() - column);
            float* corner = out.data + row * out.row_stride + column;
            table_tile(h, {corner, out.row_stride, rows, columns, row, column}, values, shift.data());
          }
        }
      }
    });
    return to;
  }

  /// Adds what stray rows give (see LengthSums), which the products left out.
  void add_stray_rows(const at::Tensor& original_grad, at::Tensor& to_table, at::Tensor& to_value) {
    if (!sums_.any()) return;
    const auto table = full_table(p_);
    const auto grad = original_grad.to(at::kFloat).contiguous();
    at::parallel_for(0, p_.heads(), 1, [&](int64_t first, int64_t last) {
      for (int64_t h = first; h < last; ++h) {
        for (int64_t b = 0; b < p_.batch(); ++b) {
          for (int64_t i = 0; p_.columns_of(b) > 0 && i < p_.rows_of(b); ++i) {
            if (sums_.stray(b, h, i)) add_stray_row(b, h, i, table, grad, to_table, to_value);
          }
        }
      }
    });
  }

 private:
  /// delta, and dy / s in place; both zero where a row does not count.
  void prepare(int64_t b, int64_t h, const at::Tensor& y) {
    const Matrix dy = Operands::matrix(grad_, b, h), result = Operands::matrix(y, b, h);
    float* delta = delta_.data_ptr<float>() + (b * p_.heads() + h) * p_.rows();
    const int64_t live = p_.columns_of(b) > 0 ? p_.rows_of(b) : 0;
    row_products(dy.data, dy.row_stride, result.data, result.row_stride, live, dy.columns, delta);
    for (int64_t i = 0; sums_.any() && i < dy.rows; ++i) {
      const float factor = i < live && !sums_.stray(b, h, i) ? 1 / sums_.of(b, h, i) : 0;
      scale_rows(dy.data + i * dy.row_stride, dy.row_stride, 1, dy.columns, &factor);
      delta[i] *= factor;
    }
  }

  void table_tile(int64_t h, const Tile& g, const std::vector<Factor>& values, float* shift) {
    const int64_t row_end = g.row + g.rows, column_end = g.column + g.columns;
    for (int64_t r = 0; r < g.rows; ++r) std::fill_n(g[r], g.columns, 0.0f);
    if (p_.mask.causal && g.column >= row_end) return;
    std::fill_n(shift, g.rows * g.columns, 0.0f);
    for (int64_t b = 0; b < p_.batch(); ++b) {
      const int64_t rows = std::clamp(p_.rows_of(b), g.row, row_end) - g.row;
      int64_t columns = std::clamp(p_.columns_of(b), g.column, column_end) - g.column;
      if (p_.mask.causal) columns = std::min(columns, row_end - g.column);
      multiply(1, Operands::matrix(grad_, b, h).row_range(g.row, g.row + rows), values[b], 0, g.column, true,
               {g.data, rows, columns, g.stride, 1}, wanted_columns(g, p_.mask.causal));
      const float* delta = delta_.const_data_ptr<float>() + (b * p_.heads() + h) * p_.rows() + g.row;
      // Only padding without a causal mask makes the sum over samples differ from column to column.
      const int64_t width = sums_.any() ? columns : 1;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t j = 0; j < width; ++j) shift[r * g.columns + j] += delta[r];
      }
    }
    for (int64_t r = 0; !sums_.any() && r < g.rows; ++r) {
      std::fill_n(shift + r * g.columns, g.columns, shift[r * g.columns]);
    }
    const Matrix weight = Operands::matrix(weights_, 0, h);
    const Tile p{weight.data + g.row * weight.row_stride + g.column,
                 weight.row_stride,
                 g.rows,
                 g.columns,
                 g.row,
                 g.column};
    weights_backward(p, g, {p_.mask.causal, p_.columns()}, shift, g.columns, operands_.drop(0, h));
  }

  void add_stray_row(int64_t b, int64_t h, int64_t i, const at::Tensor& table, const at::Tensor& grad,
                     at::Tensor& to_table, at::Tensor& to_value) {
    const int64_t n = p_.columns_of(b);
    std::vector<float> weight(n), gradient(n), down(n);
    const Tile p{weight.data(), n, 1, n, i, 0}, g{gradient.data(), n, 1, n, i, 0};
    const Drop dropping = operands_.drop(0, h);
    const Matrix dy = Operands::matrix(grad, b, h).row_range(i, i + 1);
    const Matrix value = operands_.value(b, h).row_range(0, n);
    put_table(p, table.const_data_ptr<float>() + h * table.stride(0), table.stride(1), false);
    softmax_rows(p, {false, n});
    multiply(1, dy, value.transposed(), 0, {g.data, 1, n, n, 1});
    // The inner product is taken here: delta_ holds 0 for stray rows.
    std::vector<float> kept = weight;
    if (dropping.threshold != 0) drop({kept.data(), n, 1, n, i, 0}, dropping);
    float delta = 0;
    row_products(kept.data(), n, gradient.data(), n, 1, n, &delta);
    std::fill(down.begin(), down.end(), delta);
    if (to_value.defined()) {
      multiply(1, {kept.data(), n, 1, 1, 1}, dy, 1, Operands::matrix(to_value, b, h).row_range(0, n));
    }
    weights_backward(p, g, {false, n}, down.data(), n, dropping);
    if (to_table.defined()) {
      add_to_table(g, to_table.data_ptr<float>() + h * to_table.stride(0), to_table.stride(1));
    }
  }

  const Problem& p_;
  Operands operands_;
  at::Tensor weights_, dropped_;
  LengthSums sums_;
  at::Tensor grad_, delta_;
};

}  // namespace

Gradients global_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                          const at::Tensor& weights, const Wanted& wanted) {
  Backward backward(problem, grad, result, weights);
  Gradients to;
  if (wanted.value) to.value = backward.value_gradient();
  if (wanted.table && problem.logits.table.defined()) to.table = backward.table_gradient();
  backward.add_stray_rows(grad, to.table, to.value);
  if (to.table.defined() && problem.logits.table.size(1) != to.table.size(1)) {
    to.table = to.table.sum(1, /*keepdim=*/true);
  }
  return to;
}

}  // namespace synthesizer::kernel
