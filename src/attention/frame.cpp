#include "attention/frame.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attention/heads.h"
#include "attention/kernel/attend.h"
#include "attention/kernel/problem.h"
#include "attention/spec.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

void check_member_options(const AttentionOptions& options) {
  const auto members = parse_spec(options.attention);
  std::vector<std::string> known;
  for (const OptionInfo& option : options_of(members)) known.push_back(option.name);
  for (const auto& [name, value] : options.options.values()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    invalid(fmt::format("attention {} has no option '{}'{} (it takes: {})", short_spec(members), name,
                        did_you_mean(name, known),
                        known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  }
}

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

std::vector<Parameter> projection(const std::string& name, int64_t width, bool bias) {
  std::vector<Parameter> all = {{name + ".weight", {width, width}, Init::xavier(width, width)}};
  if (bias) all.push_back({name + ".bias", {width}, Init::zero()});
  return all;
}

}  // namespace

Frame::Frame(AttentionOptions options)
    : options_(std::move(options)), cache_(std::make_unique<WeightCache>()) {
  check(options_);
  check_member_options(options_);
  mixture_ = std::make_unique<Mixture>(options_);
  for (const char* name : {"value", "output"}) {
    for (auto& parameter : projection(name, options_.width, options_.bias)) parameters_.push_back(parameter);
  }
  for (Parameter parameter : mixture_->parameters()) {
    parameter.name = "logits." + parameter.name;
    parameters_.push_back(std::move(parameter));
  }
}

std::vector<at::Tensor> Frame::initialise(at::ScalarType dtype) const {
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : parameters_) tensors.push_back(synthesizer::initialise(parameter, dtype));
  return tensors;
}

void Frame::check_input(const std::vector<at::Tensor>& tensors, const at::Tensor& x, int64_t rank) const {
  if (tensors.size() != parameters_.size()) {
    throw std::logic_error(fmt::format("{} tensors for {} parameters", tensors.size(), parameters_.size()));
  }
  const char* wanted = rank == 3 ? "batch×length×width" : "batch×width";
  if (x.dim() != rank || x.size(-1) != options_.width) {
    invalid(fmt::format("x has shape {}: it must be {} with width {}", fmt::join(x.sizes(), "×"), wanted,
                        options_.width));
  }
  const at::Tensor& weight = tensors[0];
  if (x.device() != weight.device()) {
    invalid(fmt::format("x is on {} and the layer on {}: move one of them", x.device().str(),
                        weight.device().str()));
  }
  if (x.scalar_type() != weight.scalar_type() && !at::autocast::is_autocast_enabled(x.device().type())) {
    invalid(fmt::format("x has dtype {} and the layer {}: convert one of them, or use autocast",
                        c10::toString(x.scalar_type()), c10::toString(weight.scalar_type())));
  }
}

Mask Frame::sequence_mask(const at::Tensor& x, const at::Tensor& lengths) const {
  const int64_t length = x.size(1);
  if (length > options_.max_length) {
    invalid(
        fmt::format("length {} is over max_length {}: build the layer with a larger max_length, or grow it",
                    length, options_.max_length));
  }
  Mask mask{options_.causal, {}, {}};
  if (lengths.defined()) {
    kernel::check_lengths("lengths", lengths, x.size(0), length);
    mask.row_lengths = lengths.to(x.device());
    // Under a causal mask rows that count see no padding.
    if (!options_.causal) mask.column_lengths = mask.row_lengths;
  }
  return mask;
}

at::Tensor Frame::project(const Weights& weights, const char* name, const at::Tensor& x) const {
  return at::linear(x, weights[std::string(name) + ".weight"], weights.find(std::string(name) + ".bias"));
}

bool Frame::keeps_weights(const at::Tensor& value) const {
  return global() && !c10::GradMode::is_enabled() && value.is_cpu() && value.scalar_type() != at::kDouble;
}

WeightCache::Entry Frame::kept_weights(const std::vector<at::Tensor>& tensors, int64_t length) const {
  // Those of the logits alone: the projections may change as they like.
  std::vector<at::Tensor> own;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (parameters_[i].name.starts_with("logits.")) own.push_back(tensors[i]);
  }
  return cache_->get(own, length, options_.max_length, options_.causal,
                     [&](int64_t made) -> WeightCache::Entry {
                       const Weights weights(parameters_, tensors, "logits.");
                       auto table = mixture_->logits(weights, at::Tensor(), {0, made, made}).table;
                       return {global_weights(table, options_.causal), table};
                     });
}

at::Tensor Frame::forward(const std::vector<at::Tensor>& tensors, const at::Tensor& x,
                          const at::Tensor& lengths, bool training, const at::Tensor& bias) const {
  check_input(tensors, x, 3);
  const int64_t length = x.size(1);
  const Mask mask = sequence_mask(x, lengths);
  const Weights weights(parameters_, tensors);
  const auto value = split_heads(project(weights, "value", x), options_.heads);  // B×H×L×K
  const bool dropping = training && options_.dropout > 0;
  // Whoever asks for gradients is going to change the parameters, and not every optimizer counts versions.
  if (c10::GradMode::is_enabled()) cache_->clear();
  at::Tensor y;
  if (!training && length > 0 && !bias.defined() && keeps_weights(value)) {
    const auto kept = kept_weights(tensors, length);
    y = attend_with_global_weights(kept.weights, kept.table.to(value.scalar_type()), mask, value);
  } else {
    const auto logits = plus(mixture_->logits(weights.below("logits."), x, {0, length, length}), bias);
    y = attend(as_dtype(logits, value.scalar_type()), mask, value,
               dropping ? Dropout{options_.dropout, draw_seed()} : Dropout{});
  }
  auto out = project(weights, "output", join_heads(y));  // B×L×D
  if (lengths.defined() && options_.bias) {
    auto padded = at::arange(length, mask.row_lengths.options()).ge(mask.row_lengths.unsqueeze(1));
    out = out.masked_fill(padded.unsqueeze(2), 0);
  }
  return out;
}

at::Tensor Frame::weights(const std::vector<at::Tensor>& tensors, const at::Tensor& x,
                          const at::Tensor& lengths, const at::Tensor& bias) const {
  check_input(tensors, x, 3);
  const Mask mask = sequence_mask(x, lengths);
  const Weights weights(parameters_, tensors, "logits.");
  return attention_weights(plus(mixture_->logits(weights, x, {0, x.size(1), x.size(1)}), bias), mask);
}

State Frame::start(int64_t batch) const {
  if (!options_.causal) invalid("decoding step by step needs a layer made with causal = true");
  if (batch < 0) invalid(fmt::format("batch is {}: it must be at least 0", batch));
  return {batch, options_.max_length};
}

at::Tensor Frame::step(const std::vector<at::Tensor>& tensors, const at::Tensor& x, State& state,
                       const at::Tensor& bias) const {
  c10::NoGradGuard no_grad;
  check_input(tensors, x, 2);
  if (x.size(0) != state.batch()) {
    invalid(
        fmt::format("x has {} rows for a state of {}: there must be one a sample", x.size(0), state.batch()));
  }
  const int64_t t = state.position();
  if (t >= options_.max_length) {
    invalid(fmt::format("step {} is past max_length {}: build the layer with a larger max_length, or grow it",
                        t + 1, options_.max_length));
  }
  const Weights weights(parameters_, tensors);
  const auto token = x.unsqueeze(1);                                                 // B×1×D
  const auto value = split_heads(project(weights, "value", token), options_.heads);  // B×H×1×K
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

Count Frame::count(int64_t length) const {
  if (length < 0 || length > options_.max_length) {
    invalid(fmt::format("length is {}: it must be from 0 to max_length {}", length, options_.max_length));
  }
  Count count;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.trained) continue;
    count.total += parameter.count();
    if (parameter.name.starts_with("logits.")) count.synthesis += parameter.count();
  }
  const int64_t d = options_.width;
  count.macs = mixture_->macs(length) + 2 * length * d * d + length * length * d;
  return count;
}

}  // namespace synthesizer
