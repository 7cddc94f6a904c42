#include "attention/mixer.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/kernel/problem.h"
#include "attention/padding.h"
#include "attention/spec.h"

namespace synthesizer {

Mixer::Mixer(AttentionOptions options) : options_(std::move(options)) {
  check(options_);
  check_extra_options(options_);
}

void Mixer::declare(const std::vector<Parameter>& parameters) {
  parameters_.insert(parameters_.end(), parameters.begin(), parameters.end());
}

std::vector<at::Tensor> Mixer::initialise(at::ScalarType dtype) const {
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : parameters_) tensors.push_back(synthesizer::initialise(parameter, dtype));
  return tensors;
}

void Mixer::check_input(const LayerWeights& all, const at::Tensor& x, int64_t rank,
                        const at::Tensor& bias) const {
  if (all.tensors.size() != parameters_.size() ||
      (!all.forms.empty() && all.forms.size() != all.tensors.size())) {
    throw std::logic_error(fmt::format("{} tensors and {} forms for {} parameters", all.tensors.size(),
                                       all.forms.size(), parameters_.size()));
  }
  const char* wanted = rank == 3 ? "batch×length×width" : "batch×width";
  if (x.dim() != rank || x.size(-1) != options_.width) {
    invalid(fmt::format("x has shape {}: it must be {} with width {}", fmt::join(x.sizes(), "×"), wanted,
                        options_.width));
  }
  const at::Tensor& weight = all.tensors[0];
  if (x.device() != weight.device()) {
    invalid(fmt::format("x is on {} and the layer on {}: move one of them", x.device().str(),
                        weight.device().str()));
  }
  if (x.scalar_type() != weight.scalar_type() && !at::autocast::is_autocast_enabled(x.device().type())) {
    invalid(fmt::format("x has dtype {} and the layer {}: convert one of them, or use autocast",
                        c10::toString(x.scalar_type()), c10::toString(weight.scalar_type())));
  }
  if (bias.defined() && !takes_bias()) {
    invalid(fmt::format("{} has no logits to add a bias to: call it without one",
                        short_spec(options_.attention)));
  }
}

at::Tensor Mixer::checked_lengths(const at::Tensor& x, const at::Tensor& lengths) const {
  const int64_t length = x.size(1);
  if (length > options_.max_length) {
    invalid(
        fmt::format("length {} is over max_length {}: build the layer with a larger max_length, or grow it",
                    length, options_.max_length));
  }
  if (!lengths.defined()) return {};
  kernel::check_lengths("lengths", lengths, x.size(0), length);
  return lengths.to(x.device());
}

at::Tensor Mixer::forward(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          bool training, const at::Tensor& bias) const {
  check_input(all, x, 3, bias);
  const auto there = checked_lengths(x, lengths);
  const auto out = mix(all, x, there, training, bias);  // B×L×D
  // Rows of padding are 0 before the output projection, and after it but for its bias.
  return options_.bias ? without_padding(out, there) : out;
}

at::Tensor Mixer::weights(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          const at::Tensor& bias) const {
  check_input(all, x, 3, bias);
  return look(all, x, checked_lengths(x, lengths), bias);
}

at::Tensor Mixer::look(const LayerWeights&, const at::Tensor&, const at::Tensor&, const at::Tensor&) const {
  invalid(fmt::format("{} has no weights of position by position: there are none to return",
                      short_spec(options_.attention)));
}

LayerWeights Mixer::prepare(LayerWeights weights) const {
  c10::NoGradGuard no_grad;
  weights.forms.resize(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& tensor = weights.tensors[i];
    tensor = tensor.detach();
    if (weights.forms[i]) continue;
    if (!tensor.is_cpu() || tensor.scalar_type() != at::kFloat) {
      invalid(fmt::format("'{}' is {} on {}: only float32 on the CPU can be prepared for inference",
                          parameters_[i].name, c10::toString(tensor.scalar_type()), tensor.device().str()));
    }
    if (parameters_[i].linear) weights.forms[i] = std::make_shared<PackedMatrix>(tensor);
  }
  make_ready(weights);
  return weights;
}

State Mixer::start(int64_t batch) const {
  if (!options_.causal) invalid("decoding step by step needs a layer made with causal = true");
  if (batch < 0) invalid(fmt::format("batch is {}: it must be at least 0", batch));
  return {batch, options_.max_length, this};
}

at::Tensor Mixer::step(const LayerWeights& all, const at::Tensor& x, State& state,
                       const at::Tensor& bias) const {
  c10::NoGradGuard no_grad;
  check_input(all, x, 2, bias);
  if (state.owner() != this) invalid("this state was started by another layer: start one with this layer");
  if (x.size(0) != state.batch()) {
    invalid(
        fmt::format("x has {} rows for a state of {}: there must be one a sample", x.size(0), state.batch()));
  }
  if (state.position() >= options_.max_length) {
    invalid(fmt::format("step {} is past max_length {}: build the layer with a larger max_length, or grow it",
                        state.position() + 1, options_.max_length));
  }
  return mix_row(all, x, state, bias);
}

at::Tensor Mixer::mix_row(const LayerWeights&, const at::Tensor&, State&, const at::Tensor&) const {
  invalid(
      fmt::format("{} cannot be decoded step by step: it is never causal", short_spec(options_.attention)));
}

Count Mixer::count(int64_t length) const {
  if (length < 0 || length > options_.max_length) {
    invalid(fmt::format("length is {}: it must be from 0 to max_length {}", length, options_.max_length));
  }
  Count count;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.trained) continue;
    count.total += parameter.count();
    if (parameter.synthesis) count.synthesis += parameter.count();
  }
  count.macs = macs(length);
  return count;
}

}  // namespace synthesizer
