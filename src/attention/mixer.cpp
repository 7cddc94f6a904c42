#include "attention/mixer.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attention/kernel/problem.h"
#include "attention/memory_cost.h"
#include "attention/padding.h"
#include "attention/spec.h"
#include "base/parameter_names.h"

namespace synthesizer {
namespace {

/// Throws where counts would not fit into 64 bits. The products of any member are at most those of a
/// projection, or of a square of S, each a few times over.
void check_countable(const AttentionOptions& o, const std::vector<Parameter>& parameters, int64_t length) {
  constexpr double kMost = 9e18;
  const auto l = static_cast<double>(length), d = static_cast<double>(o.width);
  const auto n = static_cast<double>(o.max_length);
  double most = 16 * l * d * (l + n + d);
  for (const Parameter& parameter : parameters) {
    double numbers = 1;
    for (const int64_t size : parameter.shape) numbers *= static_cast<double>(size);
    most = std::max(most, numbers * static_cast<double>(parameters.size()));
  }
  if (most < kMost) return;
  invalid(
      fmt::format("width {} and max_length {} give more parameters or multiply-adds than can be counted "
                  "(over 9e18): use smaller ones",
                  o.width, o.max_length));
}

}  // namespace

Mixer::Mixer(AttentionOptions options) : options_(std::move(options)) {
  check(options_);
  check_extra_options(options_);
}

void Mixer::declare(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) {
    parameters_.push_back(parameter);
    parameters_.back().synthesis = is_synthesis_parameter(parameter.name);
  }
}

std::vector<at::Tensor> Mixer::initialise(at::ScalarType dtype) const {
  check_fits_memory(parameters_);
  std::vector<at::Tensor> tensors;
  for (const Parameter& parameter : parameters_) tensors.push_back(synthesizer::initialise(parameter, dtype));
  return tensors;
}

void Mixer::check_input(const LayerWeights& all, const at::Tensor& x, int64_t rank, bool biased) const {
  if (all.tensors.size() != parameters_.size() ||
      (!all.forms.empty() && all.forms.size() != all.tensors.size())) {
    throw std::logic_error(fmt::format("{} tensors and {} forms for {} parameters", all.tensors.size(),
                                       all.forms.size(), parameters_.size()));
  }
  const char* wanted = rank == 3 ? "batch×length×width" : "batch×width";
  if (x.dim() != rank || x.sym_size(-1) != options_.width) {
    invalid(fmt::format("x has shape {}: it must be {} with width {}", kernel::shape_text(x), wanted,
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
  if (biased && !supports_bias()) {
    invalid(fmt::format("{} has no logits to add a bias or a mask to: call it without one",
                        short_spec(options_.attention)));
  }
}

at::Tensor Mixer::checked_lengths(const at::Tensor& x, const at::Tensor& lengths) const {
  const c10::SymInt length = x.sym_size(1);
  if (length > options_.max_length) {
    invalid(
        fmt::format("length {} is over max_length {}: build the layer with a larger max_length, or grow it",
                    length.guard_int(__FILE__, __LINE__), options_.max_length));
  }
  if (!lengths.defined()) return {};
  kernel::check_lengths("lengths", lengths, x.sym_size(0), length);
  return lengths.to(x.device());
}

at::Tensor Mixer::forward(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          bool training, const at::Tensor& bias, const at::Tensor& mask) const {
  check_input(all, x, 3, bias.defined() || mask.defined());
  const auto there = checked_lengths(x, lengths);
  const auto added = add_to_logits(bias, mask, this->mask(there), x, options_.heads);
  auto out = forward_impl(all, x, there, training, added);  // B×L×D
  // Rows of padding, and those that see nothing in any head, are 0 before the output projection, and after it
  // but for its bias.
  if (!options_.bias) return out;
  const auto rows = without_padding(out, there);
  return added.blind_row.defined() ? rows.masked_fill(added.blind_row.all(1), 0) : rows;
}

at::Tensor Mixer::forward_packed(const LayerWeights& all, const at::Tensor& x, const PackedRows& rows,
                                 bool training, const at::Tensor& bias) const {
  check_input(all, x, 2, bias.defined());
  return forward_packed_impl(all, x, rows, training, {.shared = bias, .own = {}, .blind_row = {}});
}

at::Tensor Mixer::forward_packed_impl(const LayerWeights& all, const at::Tensor& x, const PackedRows& rows,
                                      bool training, const AddedLogits& added) const {
  if (rows.bits() == PackedRows::Bits::alone) {
    return rows.for_each_length(x, [&](const at::Tensor& own) {
      return forward_impl(all, own, {}, training, added.corner(own.size(1)));
    });
  }
  return rows.pack(forward_impl(all, rows.unpack(x), rows.lengths(), training, added));
}

Mask Mixer::mask(const at::Tensor& lengths) const {
  return {options_.causal, lengths, options_.causal ? at::Tensor() : lengths};
}

at::Tensor Mixer::weights(const LayerWeights& all, const at::Tensor& x, const at::Tensor& lengths,
                          const at::Tensor& bias, const at::Tensor& mask) const {
  check_input(all, x, 3, bias.defined() || mask.defined());
  const auto there = checked_lengths(x, lengths);
  return weights_impl(all, x, there, add_to_logits(bias, mask, this->mask(there), x, options_.heads));
}

at::Tensor Mixer::weights_impl(const LayerWeights&, const at::Tensor&, const at::Tensor&,
                               const AddedLogits&) const {
  invalid(fmt::format("{} has no attention weights to return", short_spec(options_.attention)));
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
  precompute_weights(weights);
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
  check_input(all, x, 2, bias.defined());
  if (state.owner() != this) invalid("this state was started by another layer: start one with this layer");
  if (x.size(0) != state.batch()) {
    invalid(fmt::format("x has {} rows for a state of {}: there must be one per sample", x.size(0),
                        state.batch()));
  }
  if (state.position() >= options_.max_length) {
    invalid(fmt::format("step {} is past max_length {}: build the layer with a larger max_length, or grow it",
                        state.position() + 1, options_.max_length));
  }
  return step_impl(all, x, state, bias);
}

at::Tensor Mixer::step_impl(const LayerWeights&, const at::Tensor&, State&, const at::Tensor&) const {
  invalid(
      fmt::format("{} cannot be decoded step by step: it is never causal", short_spec(options_.attention)));
}

SlotCache Mixer::start_slots(const LayerWeights& all, int64_t slots, bool biased) const {
  c10::NoGradGuard no_grad;
  if (!options_.causal) invalid("decoding step by step needs a layer made with causal = true");
  SlotCache cache(slots, options_.max_length, this);
  cache.tables = row_tables(all, biased);
  return cache;
}

at::Tensor Mixer::step_slots(const LayerWeights& all, const at::Tensor& x, SlotCache& cache,
                             const SlotRows& rows, const at::Tensor& bias) const {
  c10::NoGradGuard no_grad;
  check_input(all, x, 2, bias.defined());
  if (cache.owner() != this) invalid("these slots were started by another layer: start some with this layer");
  if (x.size(0) != rows.size() || rows.slots.size() != rows.positions.size())
    invalid(fmt::format("x has {} rows for {} slots: there must be one for each", x.size(0), rows.size()));
  for (size_t b = 0; b < rows.slots.size(); ++b) {
    if (rows.slots[b] < 0 || rows.slots[b] >= cache.slots() || rows.positions[b] < 0 ||
        rows.positions[b] >= options_.max_length) {
      invalid(fmt::format("row {} is at slot {}, position {}: there are {} slots and {} positions", b,
                          rows.slots[b], rows.positions[b], cache.slots(), options_.max_length));
    }
  }
  return step_slots_impl(all, x, cache, rows, bias);
}

at::Tensor Mixer::step_slots_impl(const LayerWeights&, const at::Tensor&, SlotCache&, const SlotRows&,
                                  const at::Tensor&) const {
  invalid(
      fmt::format("{} cannot be decoded step by step: it is never causal", short_spec(options_.attention)));
}

Count Mixer::count(int64_t length) const {
  if (length < 0 || length > options_.max_length) {
    invalid(fmt::format("length is {}: it must be from 0 to max_length {}", length, options_.max_length));
  }
  check_countable(options_, parameters_, length);
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
