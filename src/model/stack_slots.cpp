// Decoding of texts that begin and end at different times; see SlotCache.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "model/stack.h"

namespace synthesizer {

void StackSlots::remember(const std::vector<int64_t>& slots, const at::Tensor& encoded,
                          const std::vector<int64_t>& lengths) {
  c10::NoGradGuard no_grad;
  for (LayerSlots& layer : layers) layer.memory->put(slots, encoded, lengths);
}

StackSlots Stack::start_slots(int64_t slots) const {
  c10::NoGradGuard no_grad;
  StackSlots state;
  state.bias = positions_->all_biases(layers_.front()->attention()->options().max_length);
  for (size_t n = 0; n < depth(); ++n)
    state.layers.push_back(layer_at(n)->start_slots(slots, state.bias.defined()));
  return state;
}

at::Tensor Stack::step_slots(const at::Tensor& x, StackSlots& state, const SlotRows& rows) const {
  c10::NoGradGuard no_grad;
  const auto positions = rows.position_tensor();
  auto y = positions_->add_at(x, positions);
  if (embedding_norm_) y = embedding_norm_->forward(y);
  auto before = [&](const at::Tensor& token, size_t n) {
    if (!times_.defined()) return token;
    const auto timed = token + times_.select(0, static_cast<int64_t>(n)).to(token.scalar_type());
    return n > 0 ? positions_->add_at(timed, positions) : timed;
  };
  auto layer = [&](const at::Tensor& token, size_t n) {
    return layer_at(n)->step_slots(token, state.layers[n], rows, state.bias);
  };
  y = apply(y, before, layer, /*stop_early=*/false);
  return norm_ ? norm_->forward(y) : y;
}

}  // namespace synthesizer
