// The operator as ATen operations on whole matrices: any device, any of the dtypes. Slow and plain on
// purpose: this is what the block code is compared with.

#include <ATen/ATen.h>

#include <limits>

#include "attention/kernel/paths.h"
#include "attention/kernel/plain.h"
#include "attention/kernel/random_bits.h"

namespace synthesizer::kernel {
namespace {

/// Which entry of left and of right each column takes.
std::pair<at::Tensor, at::Tensor> outer_indices(const Logits& l, int64_t columns) {
  auto j = at::arange(columns, l.left.options().dtype(at::kLong));
  const int64_t a = l.left.size(3), b = l.right.size(3);
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

at::Tensor plain_logits(const Logits& l, int64_t rows, int64_t columns, const at::Tensor& like) {
  auto wider = [](const at::Tensor& t) { return t.to(wide(t)); };
  at::Tensor s;
  auto add = [&](const at::Tensor& part) { s = s.defined() ? s + part : part; };
  if (l.query.defined()) add(at::matmul(wider(l.query), wider(l.key).transpose(-1, -2)) * l.scale);
  if (l.row.defined()) add(at::matmul(wider(l.row), wider(l.column).transpose(-1, -2)));
  if (l.table.defined()) {
    add(wider(l.table).unsqueeze(0).expand({1, l.table.size(0), rows, columns}));
  }
  if (l.left.defined()) {
    auto [u, w] = outer_indices(l, columns);
    add(wider(l.left).index_select(3, u) * wider(l.right).index_select(3, w));
  }
  // No part at all: equal weights.
  return s.defined() ? s : at::zeros({1, 1, rows, columns}, like.options().dtype(wide(like)));
}

at::Tensor plain_weights(const Logits& logits, const Mask& mask, int64_t rows, int64_t columns,
                         const at::Tensor& like) {
  const NoAutocast guard(c10::autocast_dispatch_keyset);
  auto s = plain_logits(logits, rows, columns, like);
  auto index = [&](int64_t n) { return at::arange(n, s.options().dtype(at::kLong)); };
  auto i = index(rows).unsqueeze(1), j = index(columns).unsqueeze(0);
  auto seen = mask.causal ? j.le(i) : at::ones({1, 1}, s.options().dtype(at::kBool));  // L×M
  seen = seen.view({1, 1, seen.size(0), seen.size(1)});
  auto per_sample = [](const at::Tensor& lengths) { return lengths.view({-1, 1, 1, 1}); };
  if (mask.column_lengths.defined()) seen = seen.logical_and(j.lt(per_sample(mask.column_lengths)));
  if (mask.row_lengths.defined()) seen = seen.logical_and(i.lt(per_sample(mask.row_lengths)));
  // A row that sees nothing has no softmax: it gets zeros. Filling with the lowest number, not -inf, keeps
  // its gradient from becoming NaN on the way there.
  const double lowest = s.scalar_type() == at::kDouble ? std::numeric_limits<double>::lowest()
                                                       : std::numeric_limits<float>::lowest();
  s = s.masked_fill(seen.logical_not(), lowest);
  return at::softmax(s, -1).masked_fill(seen.logical_not(), 0);
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

Gradients plain_backward(const Problem& p, const at::Tensor& grad, const Wanted& wanted) {
  const NoAutocast guard(c10::autocast_dispatch_keyset);
  const PlainAttention plain(p);
  const Logits& l = p.logits;
  auto dy = plain.w(grad);
  auto dp = plain.dropped(at::matmul(dy, plain.w(p.value).transpose(-1, -2)));  // B×H×L×M
  auto ds = plain.weights * (dp - (plain.weights * dp).sum(-1, true));
  Gradients to;
  if (wanted.value) to.value = at::matmul(plain.dropped(plain.weights).transpose(-1, -2), dy);
  if (wanted.query) to.query = at::matmul(ds, plain.w(l.key)) * l.scale;
  if (wanted.key) to.key = at::matmul(ds.transpose(-1, -2), plain.w(l.query)) * l.scale;
  if (wanted.row) to.row = at::matmul(ds, plain.w(l.column));
  if (wanted.column) to.column = at::matmul(ds.transpose(-1, -2), plain.w(l.row)).sum(0);
  if (wanted.table) {
    to.table = ds.sum(0);
    if (l.table.size(1) != to.table.size(1)) to.table = to.table.sum(1, true);
  }
  if (wanted.left || wanted.right) {
    auto [u, w] = outer_indices(l, p.columns());
    auto left = plain.w(l.left), right = plain.w(l.right);
    to.left = at::zeros_like(left).index_add(3, u, ds * right.index_select(3, w));
    to.right = at::zeros_like(right).index_add(3, w, ds * left.index_select(3, u));
  }
  return to;
}

}  // namespace synthesizer::kernel
