#include "attention/frame.h"

#include <ATen/ATen.h>

#include "attention/heads.h"
#include "attention/kernel/attend.h"
#include "attention/projection.h"

namespace synthesizer {
namespace {

/// All parts in the dtype of the values: under autocast tables stay float32 while projections don't.
Logits as_dtype(Logits logits, at::ScalarType dtype) {
  for (at::Tensor* t : {&logits.query, &logits.key, &logits.row, &logits.column, &logits.table, &logits.left,
                        &logits.right}) {
    if (t->defined()) *t = t->to(dtype);
  }
  return logits;
}

/// The logits with a table added to them.
Logits plus(Logits logits, const at::Tensor& bias) {
  if (bias.defined()) logits.table = logits.table.defined() ? logits.table + bias : bias;
  return logits;
}

}  // namespace

Frame::Frame(AttentionOptions given)
    : Mixer(std::move(given)), mixture_(std::make_unique<Mixture>(options())) {
  const AttentionOptions& o = options();
  for (const char* name : {"value", "output"}) declare(projection(name, o.width, o.width, o.bias));
  for (Parameter parameter : as_synthesis(mixture_->parameters())) {
    parameter.name = "logits." + parameter.name;
    declare({std::move(parameter)});
  }
}

Mask Frame::mask(const at::Tensor& lengths) const {
  // Under a causal mask rows that count see no padding.
  return {options().causal, lengths, options().causal ? at::Tensor() : lengths};
}

void Frame::make_ready(LayerWeights& all) const {
  // Row i of causal weights is the same whatever follows it; without the mask it would depend on the length.
  if (!global() || !options().causal) return;
  const int64_t n = options().max_length;
  const auto table = mixture_->logits(Weights(parameters(), all, "logits."), at::Tensor(), {0, n, n}).table;
  all.ready_logits = table.expand({table.size(0), n, n});  // one row may stand for all
  all.ready_weights = global_weights(all.ready_logits, /*causal=*/true);
}

at::Tensor Frame::mix(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths, bool training,
                      const at::Tensor& bias) const {
  const int64_t length = x.size(1);
  const Weights weights(parameters(), all);
  const auto value = split_heads(project(weights, "value", x), options().heads);  // B×H×L×K
  const bool dropping = training && options().dropout > 0;
  at::Tensor y;
  if (all.ready_weights.defined() && length > 0 && !bias.defined()) {
    auto corner = [length](const at::Tensor& t) { return t.narrow(1, 0, length).narrow(2, 0, length); };
    y = attend_with_global_weights(corner(all.ready_weights), corner(all.ready_logits), mask(lengths), value);
  } else {
    const auto logits = plus(mixture_->logits(weights.below("logits."), x, {0, length, length}), bias);
    y = attend(as_dtype(logits, value.scalar_type()), mask(lengths), value,
               dropping ? Dropout{options().dropout, draw_seed()} : Dropout{});
  }
  return project(weights, "output", join_heads(y));  // B×L×D
}

at::Tensor Frame::look(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                       const at::Tensor& bias) const {
  const Weights weights(parameters(), all, "logits.");
  return attention_weights(plus(mixture_->logits(weights, x, {0, x.size(1), x.size(1)}), bias),
                           mask(lengths));
}

at::Tensor Frame::mix_row(const LayerWeights& all, const at::Tensor& x, State& state,
                          const at::Tensor& bias) const {
  const int64_t t = state.position();
  const Weights weights(parameters(), all);
  const auto token = x.unsqueeze(1);                                                  // B×1×D
  const auto value = split_heads(project(weights, "value", token), options().heads);  // B×H×1×K
  at::Tensor y;
  if (all.ready_weights.defined() && !bias.defined()) {
    state.append(value, {});
    auto row = [t](const at::Tensor& table) { return table.narrow(1, t, 1).narrow(2, 0, t + 1); };
    y = attend_with_global_weights(row(all.ready_weights), row(all.ready_logits), {}, state.values());
  } else {
    auto logits = as_dtype(plus(mixture_->logits(weights.below("logits."), token, {t, 1, t + 1}), bias),
                           value.scalar_type());
    state.append(value, logits.key);
    logits.key = state.keys();
    logits.rows = 1;
    y = attend(logits, {}, state.values());
  }
  return project(weights, "output", join_heads(y)).squeeze(1);
}

int64_t Frame::macs(int64_t length) const {
  const int64_t d = options().width;
  return mixture_->macs(length) + 2 * length * d * d + length * length * d;
}

}  // namespace synthesizer
