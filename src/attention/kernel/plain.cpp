// The operator as ATen operations on whole matrices: any device, any of the dtypes. Slow and plain on
// purpose: this is what the block code is compared with.

#include <ATen/ATen.h>

#include <cmath>

#include "attention/kernel/paths.h"
#include "attention/kernel/plain.h"
#include "attention/kernel/random_bits.h"

namespace synthesizer::kernel {
namespace {

/// Which entry of left and of right each column takes.
std::pair<at::Tensor, at::Tensor> outer_indices(const Logits& l, const c10::SymInt& columns) {
  auto j = at::arange(columns, l.left.options().dtype(at::kLong));
  const c10::SymInt a = l.left.sym_size(3), b = l.right.sym_size(3);
  return {j.remainder(a), l.tile ? j.remainder(b) : j.floor_divide(a)};
}

/// random_bits of every entry ≥ threshold, as 0 or 1/(1-p): B×H×L×M, or 1×H×L×M where logits are global.
/// The same steps in 64-bit integers, of which the lower 32 bits count.
at::Tensor keep_factors(const Problem& p, at::ScalarType dtype) {
  const int64_t matrices = (p.logits.global() ? 1 : p.batch()) * p.heads(), rows = p.rows();
  auto keys = at::empty({matrices, rows, 2}, at::kLong);  // both halves of each row's key
  auto* key = keys.data_ptr<int64_t>();
  for (int64_t n = 0; n < matrices * rows; ++n) {
    const uint64_t k = row_key(p.dropout.seed, n / rows, n % rows);
    key[2 * n] = static_cast<uint32_t>(k);
    key[2 * n + 1] = static_cast<int64_t>(k >> 32);
  }
  keys = keys.to(p.value.device());
  auto low = [](const at::Tensor& x) { return x.bitwise_and(int64_t{0xFFFFFFFF}); };
  auto shifted = [](const at::Tensor& x, int64_t bits) {
    return x.bitwise_xor(x.floor_divide(int64_t{1} << bits));
  };
  auto j = at::arange(p.columns(), keys.options());
  auto x = low(j * int64_t{kStride} + keys.select(2, 0).unsqueeze(-1));  // matrices×L×M
  x = low(shifted(x, 16) * int64_t{kMix1});
  x = low(shifted(x, 15) + keys.select(2, 1).unsqueeze(-1));
  x = shifted(low(x * int64_t{kMix2}), 16);
  auto kept = x.ge(static_cast<int64_t>(drop_threshold(p.dropout.probability)));
  return (kept.to(dtype) / (1 - p.dropout.probability)).view({-1, p.heads(), rows, p.columns()});
}

/// The entries beyond the lengths, 1 or B×1×L×M: never read, whatever they are.
at::Tensor padding_entries(const Mask& mask, const c10::SymInt& rows, const c10::SymInt& columns,
                           const at::Tensor& like) {
  auto beyond = [&](const at::Tensor& lengths, const c10::SymInt& n) {
    return at::arange(n, like.options().dtype(at::kLong)).ge(lengths.view({-1, 1, 1, 1}));  // B×1×1×n
  };
  auto padding = at::zeros_symint({1, 1, rows, columns}, like.options().dtype(at::kBool));
  if (mask.column_lengths.defined()) padding = padding.logical_or(beyond(mask.column_lengths, columns));
  if (mask.row_lengths.defined()) {
    padding = padding.logical_or(beyond(mask.row_lengths, rows).transpose(-1, -2));
  }
  return padding;
}

/// These and what a causal mask hides.
at::Tensor hidden_entries(const Mask& mask, const c10::SymInt& rows, const c10::SymInt& columns,
                          const at::Tensor& like) {
  const auto padding = padding_entries(mask, rows, columns, like);
  return mask.causal ? padding.logical_or(at::ones_symint({rows, columns}, padding.options()).triu(1))
                     : padding;
}

/// Autocast would take the products below float32 again.
using NoAutocast = c10::impl::ExcludeDispatchKeyGuard;

/// The compute dtype: at least float32.
at::ScalarType wide(const at::Tensor& t) {
  return t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

struct PlainAttention {
  explicit PlainAttention(const Problem& problem) : p(problem), dtype(wide(problem.value)) {
    weights = plain_weights(p.logits, p.mask, p.rows(), p.columns(), p.value).to(dtype);
    if (p.dropout.probability > 0) factors = keep_factors(p, dtype);
  }
  at::Tensor w(const at::Tensor& t) const { return t.to(dtype); }
  at::Tensor dropped(const at::Tensor& t) const { return factors.defined() ? t * factors : t; }

  const Problem& p;
  at::ScalarType dtype;
  at::Tensor weights, factors;  ///< B or 1×H×L×M
};

}  // namespace

at::Tensor plain_logits(const Logits& l, const c10::SymInt& rows, const c10::SymInt& columns,
                        const at::Tensor& like) {
  auto wider = [](const at::Tensor& t) { return t.to(wide(t)); };
  at::Tensor s;
  auto add = [&](const at::Tensor& part) { s = s.defined() ? s + part : part; };
  if (l.query.defined()) add(at::matmul(wider(l.query), wider(l.key).transpose(-1, -2)) * l.scale);
  if (l.row.defined()) {
    const auto row = l.row.dim() == 3 ? l.row.unsqueeze(0) : l.row;
    add(at::matmul(wider(row), wider(l.column).transpose(-1, -2)));
  }
  if (l.table.defined()) {
    auto table = wider(l.table);
    if (l.table_scale.defined()) table = table * l.table_scale.to(table.scalar_type()).view({-1, 1, 1});
    add(table.unsqueeze(0).expand_symint({1, l.table.sym_size(0), rows, columns}));
  }
  if (l.left.defined()) {
    auto [u, w] = outer_indices(l, columns);
    add(wider(l.left).index_select(3, u) * wider(l.right).index_select(3, w));
  }
  if (l.bias.defined()) add(wider(l.bias));
  // No part at all: equal weights.
  return s.defined() ? s : at::zeros_symint({1, 1, rows, columns}, like.options().dtype(wide(like)));
}

at::Tensor plain_weights(const Logits& logits, const Mask& mask, const c10::SymInt& rows,
                         const c10::SymInt& columns, const at::Tensor& like) {
  const NoAutocast guard(c10::autocast_dispatch_keyset);
  const auto s = plain_logits(logits, rows, columns, like);
  const auto weights = at::softmax(s.masked_fill(hidden_entries(mask, rows, columns, s), -INFINITY), -1);
  // A row that sees nothing has no softmax, but zeros.
  return weights.masked_fill(padding_entries(mask, rows, columns, s), 0);
}

Result plain_forward(const Problem& p) {
  const NoAutocast guard(c10::autocast_dispatch_keyset);
  const PlainAttention plain(p);
  auto y = empty_result(p);
  y.copy_(at::matmul(plain.dropped(plain.weights), plain.w(p.value)));
  if (p.logits.global()) return {y, at::empty({0}, p.value.options().dtype(plain.dtype))};
  auto s = plain_logits(p.logits, p.rows(), p.columns(), p.value).masked_fill(plain.weights.eq(0), -INFINITY);
  auto saved = at::empty({p.batch(), p.heads(), p.rows()}, s.options());
  saved.copy_(s.logsumexp(-1));
  return {y, saved};
}

Gradients plain_backward(const Problem& p, const at::Tensor& grad, const NeededGradients& wanted) {
  const NoAutocast guard(c10::autocast_dispatch_keyset);
  const PlainAttention plain(p);
  const Logits& l = p.logits;
  auto dy = plain.w(grad);
  auto dp = plain.dropped(at::matmul(dy, plain.w(p.value).transpose(-1, -2)));  // B×H×L×M
  // (What is hidden has no gradient, even in a row that is NaN.)
  auto ds = (plain.weights * (dp - (plain.weights * dp).sum(-1, true)))
                .masked_fill(hidden_entries(p.mask, p.rows(), p.columns(), dp), 0);
  Gradients to;
  if (wanted.value) to.value = at::matmul(plain.dropped(plain.weights).transpose(-1, -2), dy);
  if (wanted.query) to.query = at::matmul(ds, plain.w(l.key)) * l.scale;
  if (wanted.key) to.key = at::matmul(ds.transpose(-1, -2), plain.w(l.query)) * l.scale;
  if (wanted.row) {
    to.row = at::matmul(ds, plain.w(l.column));
    if (l.row.dim() == 3) to.row = to.row.sum(0);
  }
  if (wanted.column) to.column = at::matmul(ds.transpose(-1, -2), plain.w(l.row)).sum(0);
  if (wanted.table || wanted.table_scale) {
    to.table = ds.sum(0);
    if (l.table.size(1) != to.table.size(1)) to.table = to.table.sum(1, true);
    if (l.table_scale.defined()) {
      to.table_scale = (to.table * plain.w(l.table)).sum({1, 2});  // H
      if (l.table_scale.size(0) == 1) to.table_scale = to.table_scale.sum(0, true);
      to.table = to.table * plain.w(l.table_scale).view({-1, 1, 1});
    }
  }
  if (wanted.left || wanted.right) {
    auto [u, w] = outer_indices(l, p.columns());
    auto left = plain.w(l.left), right = plain.w(l.right);
    to.left = at::zeros_like(left).index_add(3, u, ds * right.index_select(3, w));
    to.right = at::zeros_like(right).index_add(3, w, ds * left.index_select(3, u));
  }
  if (wanted.bias) to.bias = ds;
  return to;
}

}  // namespace synthesizer::kernel
