// Backward of the global path. With P the weights, s the sums of a sample's columns (see global.cpp), y = P v
// / s:
//
//     dv_j = Σ_i P_ij dy_i / s_i
//     dS_ij = P_ij ( Σ_b [dy_i · v_j]_b / s_ib  -  Σ_{b: n_b > j} [dy_i · y_i]_b / s_ib )
//
// Both products are folded over the batch, head by head and a block of rows at a time, so that no more of P
// and dS than a block is ever held; dS of a table is its gradient. Every entry of a gradient is written by
// one thread, the samples added in their order.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <vector>

#include "attention/kernel/aligned_floats.h"
#include "attention/kernel/gradient_memory.h"
#include "attention/kernel/paths.h"
#include "attention/kernel/weight_rows.h"

namespace synthesizer::kernel {
namespace {

class GlobalBackward {
 public:
  GlobalBackward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                 const NeededGradients& wanted)
      : p_(problem),
        operands_(problem),
        grad_(with_contiguous_rows(grad)),
        block_(std::min(problem.rows(), WeightRows::block_rows(problem))),
        // One task a head, or several where there are fewer heads than threads: a part takes its share of the
        // samples for the values' gradient and of the rows for those of the logits.
        parts_(blocks(at::get_num_threads(), std::max<int64_t>(problem.heads(), 1))) {
    const Logits& l = p_.logits;
    const auto options = grad_.options();
    if (wanted.value) {
      to_.value = at::empty_like(p_.value, at::kFloat);
      if (to_.value.stride(-1) != 1) to_.value = at::empty(p_.value.sizes(), options);
    }
    if (l.table.defined() && wanted.table) {
      to_.table = gradient_memory({p_.heads(), p_.rows(), p_.columns()});
    }
    if (l.table_scale.defined() && wanted.table_scale) scales_.resize(p_.heads() * parts_);
    if (l.row.defined() && wanted.row) to_.row = at::zeros(l.row.sizes(), options);
    if (l.row.defined() && wanted.column) {
      for (int64_t part = 0; part < parts_; ++part) columns_.push_back(at::zeros(l.column.sizes(), options));
    }
    of_logits_ = to_.table.defined() || !scales_.empty() || to_.row.defined() || !columns_.empty();
    delta_ = at::zeros({p_.batch(), p_.heads(), p_.rows()}, options);
    // What is divided by the sums is a copy.
    scaled_ = p_.mask.column_lengths.defined() ? grad_.clone() : grad_;
    result_ = with_contiguous_rows(result);
  }

  Gradients run() {
    if (of_logits_) {
      at::parallel_for(0, p_.batch() * p_.heads(), 1, [&](int64_t first, int64_t last) {
        for (int64_t t = first; t < last; ++t) take_inner_products(t / p_.heads(), t % p_.heads());
      });
    }
    if (p_.mask.column_lengths.defined()) {
      at::parallel_for(0, p_.heads(), 1, [&](int64_t first, int64_t last) {
        WeightRows weights(p_, operands_, block_);
        for (int64_t h = first; h < last; ++h) {
          for_each_block([&](int64_t begin, int64_t end) {
            weights.make(h, begin, end);
            for (int64_t b = 0; b < p_.batch(); ++b) divide_by_sums(weights, b, h, begin, end);
          });
        }
      });
    }
    at::parallel_for(0, p_.heads() * parts_, 1, [&](int64_t first, int64_t last) {
      Scratch scratch(p_, operands_, block_);
      for (int64_t task = first; task < last; ++task) one_head(task / parts_, task % parts_, scratch);
    });
    for (size_t part = 1; part < columns_.size(); ++part) columns_[0] += columns_[part];
    if (!columns_.empty()) to_.column = columns_[0];
    if (!scales_.empty()) {
      to_.table_scale =
          at::tensor(at::ArrayRef<double>(scales_)).to(at::kFloat).view({p_.heads(), -1}).sum(1);
      if (p_.logits.table_scale.size(0) == 1) to_.table_scale = to_.table_scale.sum(0, /*keepdim=*/true);
    }
    if (to_.table.defined() && p_.logits.table.size(1) != to_.table.size(1)) {
      to_.table = to_.table.sum(1, /*keepdim=*/true);
    }
    return to_;
  }

 private:
  /// What one thread works with.
  struct Scratch {
    Scratch(const Problem& p, const Operands& operands, int64_t block)
        : weights(p, operands, block), values(p.batch()) {}

    WeightRows weights;
    std::vector<Factor> values;  ///< K×M of each sample
    Factor grad, column, row;
    AlignedFloats tile = aligned_floats(kTileRows * kTileStride);
    std::vector<float> shift = std::vector<float>(kTileRows * kTileColumns);
    /// What a causal mask hides is not multiplied, unless 0 · NaN or 0 · infinity shows there, as in PyTorch.
    bool triangular = false;
  };

  float* delta(int64_t b, int64_t h) { return delta_.data_ptr<float>() + (b * p_.heads() + h) * p_.rows(); }
  int64_t live_rows(int64_t b) const { return p_.columns_of(b) > 0 ? p_.rows_of(b) : 0; }

  template <class Body>
  void for_each_block(const Body& body) const {
    for (int64_t begin = 0; begin < p_.rows(); begin += block_)
      body(begin, std::min(begin + block_, p_.rows()));
  }

  void take_inner_products(int64_t b, int64_t h) {
    const Matrix dy = Operands::matrix(grad_, b, h), y = Operands::matrix(result_, b, h);
    row_products(dy.data, dy.row_stride, y.data, y.row_stride, live_rows(b), dy.columns, delta(b, h));
  }

  /// dy / s and delta / s; zero where a row does not count, or has underflowed and is dealt with by itself.
  void divide_by_sums(const WeightRows& weights, int64_t b, int64_t h, int64_t begin, int64_t end) {
    const Matrix dy = Operands::matrix(scaled_, b, h);
    for (int64_t i = begin; i < end; ++i) {
      const float factor = i < live_rows(b) && !weights.underflowed(b, i) ? 1 / weights.sum(b, i) : 0;
      scale_rows(dy.data + i * dy.row_stride, dy.row_stride, 1, dy.columns, &factor);
      delta(b, h)[i] *= factor;
    }
  }

  void one_head(int64_t h, int64_t part, Scratch& scratch) {
    if (of_logits_) {
      for (int64_t b = 0; b < p_.batch(); ++b) {
        scratch.values[b].pack(operands_.value(b, h).transposed(), p_.rows());
      }
      if (to_.row.defined()) scratch.column.pack(operands_.column(h), p_.rows());
    }
    const bool finite = operands_.finite_features(0, h);
    if (to_.value.defined() && p_.rows() == 0) {
      for (int64_t b = part; b < p_.batch(); b += parts_) clear_rows(Operands::matrix(to_.value, b, h), 0);
    }
    for_each_block([&](int64_t begin, int64_t end) {
      scratch.weights.make(h, begin, end);
      scratch.triangular = p_.mask.causal && finite && !scratch.weights.diverged();
      for (int64_t b = part; to_.value.defined() && b < p_.batch(); b += parts_) {
        value_gradient(b, h, begin, end, scratch);
      }
      if (of_logits_ && begin / block_ % parts_ == part) logits_gradient(h, part, begin, end, scratch);
    });
  }

  static void clear_rows(const Matrix& m, int64_t from) {
    for (int64_t j = from; j < m.rows; ++j) std::fill_n(m.data + j * m.row_stride, m.columns, 0.0f);
  }

  /// The first block of rows writes all of it, the others add to it.
  void value_gradient(int64_t b, int64_t h, int64_t begin, int64_t end, Scratch& scratch) {
    const WeightRows& weights = scratch.weights;
    const int64_t live = std::clamp(p_.rows_of(b), begin, end), n = p_.columns_of(b);
    const int64_t reached = scratch.triangular ? std::min(n, end) : n;
    const Matrix target = Operands::matrix(to_.value, b, h);
    if (live > begin) {
      scratch.grad.pack(Operands::matrix(scaled_, b, h).row_range(begin, live), reached);
      multiply(
          1, weights.dropped().row_range(0, live - begin).column_range(0, reached).transposed(), scratch.grad,
          0, 0, begin > 0, target.row_range(0, reached),
          scratch.triangular ? TriangularPart{TriangularPart::Kind::inner_from, -begin} : TriangularPart{});
    }
    if (begin == 0) clear_rows(target, live > begin ? reached : 0);
    for (int64_t i = begin; i < std::min(end, live_rows(b)); ++i) {
      if (!weights.underflowed(b, i)) continue;
      const UnderflowedRow row(*this, weights, b, h, i);
      multiply(1, {const_cast<float*>(row.kept.data()), n, 1, 1, 1}, row.dy, 1, target.row_range(0, n));
    }
  }

  void logits_gradient(int64_t h, int64_t part, int64_t block_begin, int64_t block_end, Scratch& scratch) {
    for (int64_t row = block_begin; row < block_end; row += kTileRows) {
      const int64_t rows = std::min(kTileRows, block_end - row);
      if (!columns_.empty()) {
        scratch.row.pack(operands_.row(0, h).row_range(row, row + rows), p_.columns());
      }
      for (int64_t column = 0; column < p_.columns(); column += kTileColumns) {
        const int64_t columns = std::min(kTileColumns, p_.columns() - column);
        Tile g{scratch.tile.get(), kTileStride, rows, columns, row, column};
        if (to_.table.defined()) {  // its gradient is formed where it stays
          const Matrix out = Operands::matrix(to_.table, 0, h);
          g.data = out.data + row * out.row_stride + column;
          g.stride = out.row_stride;
        }
        form_gradient(h, block_begin, g, scratch);
        use_gradient(h, part, g, /*add=*/false, scratch);
      }
      for (int64_t b = 0; scratch.weights.any_sums() && b < p_.batch(); ++b) {
        for (int64_t i = row; i < std::min(row + rows, live_rows(b)); ++i) {
          if (scratch.weights.underflowed(b, i)) add_underflowed_row(b, h, part, i, scratch);
        }
      }
    }
  }

  /// dS at the tile's place, summed over the batch.
  void form_gradient(int64_t h, int64_t block_begin, const Tile& g, Scratch& scratch) {
    const int64_t row_end = g.row + g.rows, column_end = g.column + g.columns;
    // Where samples differ in length, some don't reach into every entry; otherwise the first one writes them
    // all.
    const bool ragged = p_.mask.row_lengths.defined() || p_.mask.column_lengths.defined();
    const bool unseen = p_.mask.causal && g.column >= row_end;
    for (int64_t r = 0; (ragged || unseen || p_.batch() == 0) && r < g.rows; ++r)
      std::fill_n(g[r], g.columns, 0.0f);
    if (unseen) return;
    // Only column lengths make the sum over samples differ from column to column.
    const int64_t stride = scratch.weights.any_sums() ? g.columns : 0, width = std::max<int64_t>(stride, 1);
    float* shift = scratch.shift.data();
    std::fill_n(shift, g.rows * width, 0.0f);
    // Rows that no sample has stay zero, also where their weights are NaN (a row of -infinity).
    int64_t seen = 0;
    for (int64_t b = 0; b < p_.batch(); ++b) {
      const int64_t rows = std::clamp(p_.rows_of(b), g.row, row_end) - g.row;
      if (p_.columns_of(b) > 0) seen = std::max(seen, rows);
      int64_t columns = std::clamp(p_.columns_of(b), g.column, column_end) - g.column;
      if (p_.mask.causal) columns = std::min(columns, row_end - g.column);
      multiply(1, Operands::matrix(scaled_, b, h).row_range(g.row, g.row + rows), scratch.values[b], 0,
               g.column, ragged || b > 0, {g.data, rows, columns, g.stride, 1},
               wanted_columns(g, p_.mask.causal));
      for (int64_t r = 0; r < rows; ++r) {
        const float down = delta(b, h)[g.row + r];
        for (int64_t j = 0; j < std::min(columns, width); ++j) shift[r * width + j] += down;
      }
    }
    const Matrix& weight = scratch.weights.weights();
    const Tile p{weight.data + (g.row - block_begin) * weight.row_stride + g.column,
                 weight.row_stride,
                 seen,
                 g.columns,
                 g.row,
                 g.column};
    const Tile live{g.data, g.stride, seen, g.columns, g.row, g.column};
    if (seen > 0)
      weights_backward(p, live, {p_.mask.causal, p_.columns()}, shift, stride, operands_.dropout_mask(0, h));
  }

  /// From dS to the gradients of the logits' parts. A table's gradient is made of the tile where it lies, or
  /// added to.
  void use_gradient(int64_t h, int64_t part, const Tile& g, bool add, Scratch& scratch) {
    const bool hidden = scratch.triangular && g.column >= g.row + g.rows;
    if (to_.row.defined() && !hidden) {
      multiply(1, g.matrix(), scratch.column, g.column, 0, true,
               Operands::matrix(to_.row, 0, h).row_range(g.row, g.row + g.rows),
               inner_columns(g, scratch.triangular));
    }
    if (!columns_.empty() && !hidden) {
      multiply(1, g.matrix().transposed(), scratch.row, 0, 0, true,
               Operands::matrix(columns_[part], 0, h).row_range(g.column, g.column + g.columns),
               inner_rows(g, scratch.triangular));
    }
    if (!scales_.empty() && !hidden) {
      scales_[h * parts_ + part] += table_product(g, operands_.table(h), {p_.mask.causal, p_.columns()});
    }
    if (to_.table.defined() && (add || p_.logits.table_scale.defined())) {
      const Matrix out = Operands::matrix(to_.table, 0, h);
      put_table_gradient(g, operands_.table(h).scale, add, out.data, out.row_stride);
    }
  }

  /// An underflowed row's own weights, before and after dropout, and its incoming gradient, undivided.
  struct UnderflowedRow {
    UnderflowedRow(const GlobalBackward& all, const WeightRows& weights, int64_t b, int64_t h, int64_t i)
        : weight(all.p_.columns_of(b)), dy(Operands::matrix(all.grad_, b, h).row_range(i, i + 1)) {
      const auto n = static_cast<int64_t>(weight.size());
      weights.make_underflowed_row(i, n, weight.data());
      kept = weight;
      const DropoutMask dropping = all.operands_.dropout_mask(0, h);
      if (dropping.threshold != 0) apply_dropout({kept.data(), n, 1, n, i, 0}, dropping);
    }
    std::vector<float> weight, kept;
    Matrix dy;
  };

  void add_underflowed_row(int64_t b, int64_t h, int64_t part, int64_t i, Scratch& scratch) {
    UnderflowedRow row(*this, scratch.weights, b, h, i);
    const int64_t n = p_.columns_of(b);
    std::vector<float> gradient(n);
    multiply(1, row.dy, operands_.value(b, h).row_range(0, n).transposed(), 0, {gradient.data(), 1, n, n, 1});
    float inner = 0;
    row_products(row.kept.data(), n, gradient.data(), n, 1, n, &inner);
    const Tile g{gradient.data(), n, 1, n, i, 0};
    weights_backward({row.weight.data(), n, 1, n, i, 0}, g, {p_.mask.causal, n}, &inner, 0,
                     operands_.dropout_mask(0, h));
    if (!columns_.empty()) scratch.row.pack(operands_.row(0, h).row_range(i, i + 1), p_.columns());
    use_gradient(h, part, g, /*add=*/true, scratch);
  }

  const Problem& p_;
  Operands operands_;
  at::Tensor grad_, scaled_, result_, delta_;
  int64_t block_, parts_;
  Gradients to_;
  std::vector<at::Tensor> columns_;  ///< the gradient of `column`, one sum per part
  std::vector<double> scales_;       ///< that of the table's scale, H × parts
  bool of_logits_ = false;           ///< whether any gradient of the logits is needed
};

}  // namespace

Gradients global_backward(const Problem& problem, const at::Tensor& grad, const at::Tensor& result,
                          const NeededGradients& wanted) {
  return GlobalBackward(problem, grad, result, wanted).run();
}

}  // namespace synthesizer::kernel
