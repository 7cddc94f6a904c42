#include "attention/kernel/operands.h"

#include <ATen/ATen.h>

namespace synthesizer::kernel {

at::Tensor with_unit_stride(const at::Tensor& t) {
  if (!t.defined()) return t;
  auto f = t.to(at::kFloat);
  // A product needs one stride of 1 and the other one no smaller than what lies between: no row twice.
  auto steps = [&](int64_t along, int64_t across) {
    return f.stride(along) == 1 && (f.stride(across) >= f.size(along) || f.size(across) <= 1);
  };
  return steps(-1, -2) || steps(-2, -1) ? f : f.contiguous();
}

at::Tensor with_contiguous_rows(const at::Tensor& t) {
  auto f = with_unit_stride(t);
  return !f.defined() || f.stride(-1) == 1 ? f : f.contiguous();
}

Operands::Operands(const Problem& p)
    : problem_(&p),
      query_(with_unit_stride(p.logits.query)),
      key_(with_unit_stride(p.logits.key)),
      row_(with_unit_stride(p.logits.row)),
      column_(with_unit_stride(p.logits.column)),
      table_(p.logits.table.defined() ? p.logits.table.to(at::kFloat) : at::Tensor()),
      left_(with_contiguous_rows(p.logits.left)),
      right_(with_contiguous_rows(p.logits.right)),
      value_(with_unit_stride(p.value)),
      causal_(p.mask.causal) {
  if (p.logits.table_scale.defined()) table_scale_ = p.logits.table_scale.to(at::kFloat).contiguous();
  // Read along its rows too, but one row may stand for all: that is no reason to copy it.
  if (table_.defined() && table_.stride(-1) != 1) table_ = table_.contiguous();
  if (p.logits.bias.defined()) bias_ = p.logits.bias.to(at::kFloat);
  if (bias_.defined() && bias_.stride(-1) != 1) bias_ = bias_.contiguous();
}

Matrix Operands::matrix(const at::Tensor& t, int64_t b, int64_t h) {
  const int64_t d = t.dim();
  float* data = t.data_ptr<float>() + h * t.stride(d - 3) + (d == 4 ? b * t.stride(0) : 0);
  return {data, t.size(d - 2), t.size(d - 1), t.stride(d - 2), t.stride(d - 1)};
}

OuterFactors Operands::outer(int64_t b, int64_t h) const {
  if (!left_.defined()) return {};
  const Matrix left = matrix(left_, b, h), right = matrix(right_, b, h);
  return {left.data,    right.data,    left.row_stride,      right.row_stride,
          left.columns, right.columns, problem_->logits.tile};
}

bool Operands::finite_features(int64_t b, int64_t h) const {
  for (const at::Tensor* t : {&query_, &key_, &row_, &column_, &left_, &right_}) {
    if (t->defined() && !all_finite(matrix(*t, b, h))) return false;
  }
  return true;
}

DropoutMask Operands::dropout_mask(int64_t b, int64_t h) const {
  const Dropout& dropout = problem_->dropout;
  if (dropout.probability == 0) return {};
  const int64_t sample = problem_->logits.global() ? 0 : b;
  return {drop_threshold(dropout.probability), static_cast<float>(1 / (1 - dropout.probability)),
          dropout.seed, sample * problem_->heads() + h};
}

Table Operands::table(int64_t h) const {
  const float scale =
      table_scale_.defined() ? table_scale_.const_data_ptr<float>()[table_scale_.size(0) == 1 ? 0 : h] : 1;
  return {table_.const_data_ptr<float>() + h * table_.stride(0), table_.size(1) == 1 ? 0 : table_.stride(1),
          scale};
}

Table Operands::bias(int64_t b, int64_t h) const {
  const Matrix own = matrix(bias_, b, h);
  return {own.data, own.row_stride};
}

void Operands::pack_columns(Columns& columns, int64_t b, int64_t h, int64_t rows) const {
  if (row_.defined() && (columns.head != h || columns.column.packed() != Factor::worth_packing(rows)))
    columns.column.pack(column(h).transposed(), rows);
  if (query_.defined() && (columns.head != h || columns.sample != b)) {
    columns.key.pack(key(b, h).transposed(), rows);
  }
  columns.sample = b;
  columns.head = h;
}

void Operands::form_logits(const Tile& s, const Columns& columns) const {
  const int64_t b = columns.sample, h = columns.head;
  bool begun = false;
  if (table_.defined()) {
    put_table(s, table(h), begun);
    begun = true;
  }
  if (bias_.defined()) {
    put_table(s, bias(b, h), begun);
    begun = true;
  }
  if (const OuterFactors factors = outer(b, h)) {
    put_outer(s, factors, begun);
    begun = true;
  }
  auto add_product = [&](float scale, const Matrix& rows, const Factor& factor) {
    multiply(scale, rows.row_range(s.row, s.row + s.rows), factor, 0, s.column, begun, s.matrix(),
             wanted_columns(s, causal_));
    begun = true;
  };
  if (query_.defined()) add_product(static_cast<float>(problem_->logits.scale), query(b, h), columns.key);
  if (row_.defined()) add_product(1, row(b, h), columns.column);
  for (int64_t r = 0; !begun && r < s.rows; ++r) std::fill_n(s[r], s.columns, 0.0f);
}

}  // namespace synthesizer::kernel
