#include "model/stack.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "base/error.h"
#include "model/attention_hook.h"
#include "model/dropout.h"
#include "model/forward_hook.h"
#include "model/recompute.h"

namespace synthesizer {

void StackState::reorder(const at::Tensor& indices) {
  for (LayerState& layer : layers) layer.reorder(indices);
}

Stack::Stack(const ModelOptions& o, Side side, bool cross)
    : dropout_(o.dropout),
      name_(side == Side::encoder ? "encoder" : "decoder"),
      halting_threshold_(o.halting_threshold) {
  const bool causal = side == Side::decoder;
  positions_ = register_module("positions", std::make_shared<Positions>(o, causal));
  if (o.embedding_norm) embedding_norm_ = register_module("embedding_norm", std::make_shared<Norm>(o));
  auto layers = register_module("layers", std::make_shared<torch::nn::Module>("layers"));
  for (const std::string& spec : attention_of_layers(o, side)) {
    const std::string number = std::to_string(layers_.size());
    auto layer = std::make_shared<Layer>(o, spec, causal, cross, fmt::format("{}.layers.{}", name_, number));
    layers_.push_back(layers->register_module(number, layer));
  }
  if (o.recurrent_depth > 0) {
    times_ = sinusoids(o.recurrent_depth, o.width);  // a formula: nothing to save
    if (o.positions == PositionKind::learned) times_ = declare("times", Role::embedding, times_);
  }
  if (o.halting_threshold > 0) {
    // A bias of 1, as in Tensor2Tensor: at first positions stop after one or two applications.
    halting_weight_ = declare({"halting_weight", Role::matrix, {o.width}, Init::xavier(o.width, 1)});
    halting_bias_ = declare("halting_bias", Role::bias, at::ones({1}));
  }
  if (o.norm_place == NormPlace::pre) {
    norm_ = register_module("norm", std::make_shared<Norm>(o));
  }
}

at::Tensor Stack::enter(const at::Tensor& x, int64_t begin) const {
  auto y = positions_->add(x, begin);
  if (embedding_norm_) y = embedding_norm_->forward(y);
  y = drop_out(y, dropout_, is_training());
  return call_forward_hook(name_, "embedded", y);
}

at::Tensor Stack::before(const at::Tensor& x, size_t n, int64_t begin) const {
  if (!times_.defined()) return x;
  const auto timed = x + times_.select(0, static_cast<int64_t>(n)).to(x.scalar_type());
  return n == 0 ? timed : positions_->add(timed, begin);  // below the first layer they are there already
}

at::Tensor Stack::apply_layer(Layer& layer, const at::Tensor& x, const at::Tensor& lengths,
                              const at::Tensor& bias, const at::Tensor& encoded,
                              const at::Tensor& encoded_lengths, const PackedRowsPtr& rows) const {
  if (!recompute_ || !c10::GradMode::is_enabled())
    return layer.forward(x, lengths, bias, encoded, encoded_lengths, rows);
  auto forward = [&layer, lengths, encoded_lengths, rows](const at::Tensor& x, const at::Tensor& bias,
                                                          const at::Tensor& encoded) {
    return layer.forward(x, lengths, bias, encoded, encoded_lengths, rows);
  };
  return recompute_in_backward(forward, x, bias, encoded);
}

at::Tensor Stack::apply_layers(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& encoded,
                               const at::Tensor& encoded_lengths, const PackedRowsPtr& rows) const {
  const int64_t length = x.size(1), limit = layers_.front()->attention()->options().max_length;
  if (length > limit) {
    invalid(fmt::format("{} tokens are over model.max_length {}: cut the text, or train with a larger one",
                        length, limit));
  }
  auto y = enter(x, 0);
  const auto bias = positions_->bias(0, length, length);
  if (rows) y = rows->pack(y);
  y = apply(
      y, [&](const at::Tensor& state, size_t n) { return before(state, n, 0); },
      [&](const at::Tensor& state, size_t n) {
        return apply_layer(*layer_at(n), state, lengths, bias, encoded, encoded_lengths, rows);
      },
      /*stop_early=*/!has_attention_hook(), lengths);
  if (norm_) y = norm_->forward(y);
  return rows ? rows->unpack(y) : y;
}

at::Tensor Stack::forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& encoded,
                          const at::Tensor& encoded_lengths) {
  const auto rows = packs() ? rows_worth_packing(lengths, x.size(1)) : nullptr;
  return apply_layers(x, lengths, encoded, encoded_lengths, rows);
}

at::Tensor Stack::forward_apart(const at::Tensor& x, const at::Tensor& lengths) {
  const auto rows = std::make_shared<const PackedRows>(lengths, x.size(1), PackedRows::Bits::alone);
  return apply_layers(x, lengths, {}, {}, rows);
}

StackState Stack::start(int64_t batch, const at::Tensor& encoded, const at::Tensor& encoded_lengths) const {
  c10::NoGradGuard no_grad;
  StackState state;
  for (size_t n = 0; n < depth(); ++n)
    state.layers.push_back(layer_at(n)->start(batch, encoded, encoded_lengths));
  return state;
}

at::Tensor Stack::step(const at::Tensor& x, StackState& state) {
  c10::NoGradGuard no_grad;
  const int64_t t = state.position++;
  auto y = enter(x.unsqueeze(1), t).squeeze(1);
  const auto bias = positions_->bias(t, 1, t + 1);
  // All applications: later positions, which may not have stopped, will look at this one in each of them.
  y = apply(
      y, [&](const at::Tensor& x, size_t n) { return before(x.unsqueeze(1), n, t).squeeze(1); },
      [&](const at::Tensor& x, size_t n) { return layer_at(n)->step(x, state.layers[n], bias); },
      /*stop_early=*/false);
  return norm_ ? norm_->forward(y) : y;
}

}  // namespace synthesizer
