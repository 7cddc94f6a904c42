#include "model/layer.h"

#include <ATen/ATen.h>

#include "attention/spec.h"
#include "model/attention_hook.h"
#include "model/dropout.h"
#include "model/forward_hook.h"

namespace synthesizer {

void LayerState::reorder(const at::Tensor& indices) {
  self.reorder(indices);
  if (memory) memory->reorder(indices);
}

Layer::Layer(const ModelOptions& o, const std::string& spec, bool causal, bool cross, std::string name)
    : name_(std::move(name)), post_norm_(o.norm_place == NormPlace::post), dropout_(o.dropout) {
  auto norm = [&](const char* of) { return register_module(of, std::make_shared<Norm>(o)); };
  attention_norm_ = norm("attention_norm");
  attention_ = register_module("attention", Attention(layer_attention(o, spec, causal)));
  if (cross) {
    cross_norm_ = norm("cross_norm");
    cross_ = register_module("cross", std::make_shared<CrossAttention>(o));
  }
  feed_forward_norm_ = norm("feed_forward_norm");
  feed_forward_ = register_module("feed_forward", std::make_shared<FeedForward>(o));
}

at::Tensor Layer::residual(const at::Tensor& x, const Norm& norm, const char* part,
                           const Branch& branch) const {
  auto y = call_forward_hook(name_, part, branch(post_norm_ ? x : norm.forward(x)));
  y = drop_out(y, dropout_, is_training());
  return post_norm_ ? norm.forward(x + y) : x + y;
}

at::Tensor Layer::supported_bias(const at::Tensor& bias) const {
  return attention_->mixer().supports_bias() ? bias : at::Tensor();
}

void Layer::call_self_attention_hook(const at::Tensor& x, const at::Tensor& lengths,
                                     const at::Tensor& bias) const {
  if (!has_attention_hook()) return;
  const AttentionOptions& o = attention_->options();
  AttentionCall call{name_, "attention", short_spec(o.attention), o.causal, {}};
  if (attention_->mixer().supports_bias())
    call.weights = [&] { return attention_->weights(x, lengths, bias); };
  call_attention_hook(call);
}

void Layer::call_cross_attention_hook(const at::Tensor& x, const Memory& memory) const {
  if (has_attention_hook())
    call_attention_hook({name_, "cross", "V", false, [&] { return cross_->weights(x, memory); }});
}

at::Tensor Layer::forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                          const at::Tensor& encoded, const at::Tensor& encoded_lengths,
                          const PackedRowsPtr& rows) {
  auto y = residual(x, *attention_norm_, "attention", [&](const at::Tensor& h) {
    if (rows) return attention_->forward_packed(h, *rows, supported_bias(bias));
    call_self_attention_hook(h, lengths, supported_bias(bias));
    return attention_->forward(h, lengths, supported_bias(bias));
  });
  if (cross_) {
    // An alias, so that a layer's gradients of the memory are added up before they are added to other
    // layers': the order, and with it the bits, that they have where layers are computed again (recompute.h).
    const Memory memory = cross_->project_memory(at::alias(encoded), encoded_lengths);
    y = residual(y, *cross_norm_, "cross", [&](const at::Tensor& h) {
      call_cross_attention_hook(h, memory);
      return cross_->forward(h, memory, rows.get());
    });
  }
  return residual(y, *feed_forward_norm_, "feed_forward",
                  [&](const at::Tensor& h) { return feed_forward_->forward(h); });
}

LayerState Layer::start(int64_t batch, const at::Tensor& encoded, const at::Tensor& encoded_lengths) const {
  LayerState state{attention_->start(batch), {}};
  if (cross_) state.memory = cross_->project_memory(encoded, encoded_lengths);
  return state;
}

at::Tensor Layer::step(const at::Tensor& x, LayerState& state, const at::Tensor& bias) {
  auto y = residual(x, *attention_norm_, "attention", [&](const at::Tensor& h) {
    return attention_->step(h, state.self, supported_bias(bias));
  });
  if (cross_) {
    y = residual(y, *cross_norm_, "cross", [&](const at::Tensor& h) {
      const Memory& memory = *state.memory;  // rows that share one are rows of one text to it
      return cross_->forward(h.reshape({-1, memory.share, h.size(1)}), memory).view(h.sizes());
    });
  }
  return residual(y, *feed_forward_norm_, "feed_forward",
                  [&](const at::Tensor& h) { return feed_forward_->forward(h); });
}

LayerSlots Layer::start_slots(int64_t slots, bool biased) const {
  LayerSlots state{attention_->start_slots(slots, biased && attention_->mixer().supports_bias()), {}};
  if (cross_) state.memory.emplace(*cross_, slots);
  return state;
}

at::Tensor Layer::step_slots(const at::Tensor& x, LayerSlots& state, const SlotRows& rows,
                             const at::Tensor& bias) const {
  auto y = residual(x, *attention_norm_, "attention", [&](const at::Tensor& h) {
    return attention_->step_slots(h, state.self, rows, supported_bias(bias));
  });
  if (cross_) {
    y = residual(y, *cross_norm_, "cross",
                 [&](const at::Tensor& h) { return cross_->step_slots(h, *state.memory, rows); });
  }
  return residual(y, *feed_forward_norm_, "feed_forward",
                  [&](const at::Tensor& h) { return feed_forward_->forward(h); });
}

}  // namespace synthesizer
