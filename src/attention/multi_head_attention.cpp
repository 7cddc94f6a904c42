#include "attention/multi_head_attention.h"

#include <ATen/ATen.h>

#include "attention/heads.h"
#include "attention/kernel/attend.h"
#include "attention/projection.h"
#include "base/parameter_names.h"

namespace synthesizer {
namespace {

/// All parts in the dtype of the values: under autocast tables stay float32 while projections don't.
Logits as_dtype(Logits logits, at::ScalarType dtype) {
  for (at::Tensor* t : {&logits.query, &logits.key, &logits.row, &logits.column, &logits.table, &logits.left,
                        &logits.right, &logits.bias}) {
    if (t->defined()) *t = t->to(dtype);
  }
  return logits;
}

/// The logits with a table added to them.
Logits plus(Logits logits, const at::Tensor& bias) {
  if (bias.defined()) add_table(logits, bias);
  return logits;
}

/// The logits with what a caller adds to them.
Logits plus(Logits logits, const AddedLogits& added) {
  logits.bias = added.own;
  return plus(std::move(logits), added.shared);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(AttentionOptions given)
    : Mixer(std::move(given)), mixture_(std::make_unique<Mixture>(options())) {
  const AttentionOptions& o = options();
  for (const char* name : {"value", "output"}) declare(projection(name, o.width, o.width, o.bias));
  for (Parameter parameter : mixture_->parameters()) {
    parameter.name = std::string(kLogitsPrefix) + parameter.name;
    declare({std::move(parameter)});
  }
}

void MultiHeadAttention::precompute_weights(LayerWeights& all) const {
  // Row i of causal weights is the same whatever follows it; without the mask it would depend on the length.
  if (!global() || !options().causal) return;
  const int64_t n = options().max_length;
  const auto logits =
      mixture_->logits(Weights(parameters(), all, std::string(kLogitsPrefix)), at::Tensor(), {0, n, n});
  all.precomputed_weights = global_weights(logits, /*causal=*/true);
}

at::Tensor MultiHeadAttention::forward_impl(const LayerWeights& all, const at::Tensor& x,
                                            const at::Tensor& lengths, bool training,
                                            const AddedLogits& added) const {
  const Weights weights(parameters(), all);
  const auto value = split_heads(project(weights, "value", x), options().heads);  // B×H×L×K
  at::Tensor y;
  if (all.precomputed_weights.defined() && !added.defined() && x.size(1) > 0) {
    const int64_t length = x.size(1);
    auto corner = [length](const at::Tensor& t) { return t.narrow(1, 0, length).narrow(2, 0, length); };
    y = attend_with_global_weights(corner(all.precomputed_weights), mask(lengths), value);
  } else {
    const c10::SymInt length = x.sym_size(1);
    y = combine(weights, value, x, {0, length, length}, lengths, training, added);
  }
  return project(weights, "output", join_heads(y));  // B×L×D
}

at::Tensor MultiHeadAttention::forward_packed_impl(const LayerWeights& all, const at::Tensor& x,
                                                   const PackedRows& rows, bool training,
                                                   const AddedLogits& added) const {
  if (rows.bits() == PackedRows::Bits::alone && !mixture_->rows_are_independent())
    return Mixer::forward_packed_impl(all, x, rows, training, added);
  const Weights weights(parameters(), all);
  const auto value = project(weights, "value", x);  // N×D
  if (global() && rows.bits() == PackedRows::Bits::alone) {
    // Weights that a batch shares are divided by the sum that a shorter sample sees of them: another
    // rounding.
    const auto y = rows.for_each_length(value, [&](const at::Tensor& own) {
      const int64_t length = own.size(1);
      const AddedLogits corner = added.corner(length);
      const auto heads = split_heads(own, options().heads);
      return join_heads(combine(weights, heads, own, {0, length, length}, {}, training, corner));
    });
    return project(weights, "output", y);
  }
  const RowRange range{0, rows.length(), rows.length(), &rows};
  const auto y =
      combine(weights, split_heads(value, options().heads, &rows), x, range, rows.lengths(), training, added);
  return project(weights, "output", rows.pack(join_heads(y)));  // N×D
}

at::Tensor MultiHeadAttention::combine(const Weights& weights, const at::Tensor& value, const at::Tensor& x,
                                       const RowRange& range, const at::Tensor& lengths, bool training,
                                       const AddedLogits& added) const {
  const auto logits = plus(mixture_->logits(weights.with_prefix(kLogitsPrefix), x, range), added);
  const auto y = attend(as_dtype(logits, value.scalar_type()), mask(lengths), value,
                        draw_dropout(training ? options().dropout : 0, x));
  return without_blind_rows(y, added);
}

at::Tensor MultiHeadAttention::weights_impl(const LayerWeights& all, const at::Tensor& x,
                                            const at::Tensor& lengths, const AddedLogits& added) const {
  const Weights weights(parameters(), all, std::string(kLogitsPrefix));
  const c10::SymInt length = x.sym_size(1);
  const auto logits = plus(mixture_->logits(weights, x, {0, length, length}), added);
  return without_blind_rows(attention_weights(logits, mask(lengths)), added);
}

at::Tensor MultiHeadAttention::step_impl(const LayerWeights& all, const at::Tensor& x, State& state,
                                         const at::Tensor& bias) const {
  const int64_t t = state.position();
  const Weights weights(parameters(), all);
  const auto token = x.unsqueeze(1);                                                  // B×1×D
  const auto value = split_heads(project(weights, "value", token), options().heads);  // B×H×1×K
  at::Tensor y;
  if (all.precomputed_weights.defined() && !bias.defined()) {
    state.append(value, {});
    auto row = [t](const at::Tensor& table) { return table.narrow(1, t, 1).narrow(2, 0, t + 1); };
    y = attend_with_global_weights(row(all.precomputed_weights), {}, state.values());
  } else {
    auto logits =
        as_dtype(plus(mixture_->logits(weights.with_prefix(kLogitsPrefix), token, {t, 1, t + 1}), bias),
                 value.scalar_type());
    state.append(value, logits.key);
    logits.key = state.keys();
    logits.rows = 1;
    y = attend(logits, {}, state.values());
  }
  return project(weights, "output", join_heads(y)).squeeze(1);
}

int64_t MultiHeadAttention::macs(int64_t length) const {
  const int64_t d = options().width;
  return mixture_->macs(length) + 2 * length * d * d + length * length * d;
}

}  // namespace synthesizer
