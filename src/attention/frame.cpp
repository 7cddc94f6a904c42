#include "attention/frame.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

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
    : Mixer(std::move(given)),
      mixture_(std::make_unique<Mixture>(options())),
      cache_(std::make_unique<WeightCache>()) {
  const AttentionOptions& o = options();
  for (const char* name : {"value", "output"}) declare(projection(name, o.width, o.width, o.bias));
  for (Parameter parameter : mixture_->parameters()) {
    parameter.name = "logits." + parameter.name;
    declare({std::move(parameter)});
  }
}

Mask Frame::mask(const at::Tensor& lengths) const {
  // Under a causal mask rows that count see no padding.
  return {options().causal, lengths, options().causal ? at::Tensor() : lengths};
}

bool Frame::keeps_weights(const at::Tensor& value) const {
  return global() && !c10::GradMode::is_enabled() && value.is_cpu() && value.scalar_type() != at::kDouble;
}

WeightCache::Entry Frame::kept_weights(const std::vector<at::Tensor>& tensors, int64_t length) const {
  // Those of the logits alone: the projections may change as they like.
  std::vector<at::Tensor> own;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (makes_weights(parameters()[i])) own.push_back(tensors[i]);
  }
  return cache_->get(own, length, options().max_length, options().causal,
                     [&](int64_t made) -> WeightCache::Entry {
                       const Weights weights(parameters(), tensors, "logits.");
                       auto table = mixture_->logits(weights, at::Tensor(), {0, made, made}).table;
                       return {global_weights(table, options().causal), table};
                     });
}

at::Tensor Frame::mix(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                      bool training, const at::Tensor& bias) const {
  const int64_t length = x.size(1);
  const Weights weights(parameters(), tensors);
  const auto value = split_heads(project(weights, "value", x), options().heads);  // B×H×L×K
  const bool dropping = training && options().dropout > 0;
  // Whoever asks for gradients is going to change the parameters, and not every optimizer counts versions.
  if (c10::GradMode::is_enabled()) cache_->clear();
  at::Tensor y;
  if (!training && length > 0 && !bias.defined() && keeps_weights(value)) {
    const auto kept = kept_weights(tensors, length);
    y = attend_with_global_weights(kept.weights, kept.table.to(value.scalar_type()), mask(lengths), value);
  } else {
    const auto logits = plus(mixture_->logits(weights.below("logits."), x, {0, length, length}), bias);
    y = attend(as_dtype(logits, value.scalar_type()), mask(lengths), value,
               dropping ? Dropout{options().dropout, draw_seed()} : Dropout{});
  }
  return project(weights, "output", join_heads(y));  // B×L×D
}

at::Tensor Frame::look(const std::vector<at::Tensor>& tensors, const at::Tensor& x, const at::Tensor& lengths,
                       const at::Tensor& bias) const {
  const Weights weights(parameters(), tensors, "logits.");
  return attention_weights(plus(mixture_->logits(weights, x, {0, x.size(1), x.size(1)}), bias),
                           mask(lengths));
}

at::Tensor Frame::mix_row(const std::vector<at::Tensor>& tensors, const at::Tensor& x, State& state,
                          const at::Tensor& bias) const {
  const int64_t t = state.position();
  const Weights weights(parameters(), tensors);
  const auto token = x.unsqueeze(1);                                                  // B×1×D
  const auto value = split_heads(project(weights, "value", token), options().heads);  // B×H×1×K
  at::Tensor y;
  if (!bias.defined() && keeps_weights(value)) {
    state.append(value, {});
    const auto kept = kept_weights(tensors, t + 1);
    y = attend_with_global_weights(kept.weights.narrow(1, t, 1),
                                   kept.table.narrow(1, t, 1).to(value.scalar_type()), {}, state.values());
  } else {
    auto logits = as_dtype(plus(mixture_->logits(weights.below("logits."), token, {t, 1, t + 1}), bias),
                           value.scalar_type());
    state.append(value, logits.key);
    logits.key = state.keys();
    y = attend(logits, {}, state.values());
  }
  return project(weights, "output", join_heads(y)).squeeze(1);
}

bool Frame::makes_weights(const Parameter& parameter) const {
  return parameter.name.starts_with("logits.");
}

int64_t Frame::macs(int64_t length) const {
  const int64_t d = options().width;
  return mixture_->macs(length) + 2 * length * d * d + length * length * d;
}

}  // namespace synthesizer
