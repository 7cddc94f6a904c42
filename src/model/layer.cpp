#include "model/layer.h"

#include <ATen/ATen.h>

#include "attention/spec.h"
#include "model/dropout.h"
#include "model/look.h"
#include "model/observe.h"

namespace synthesizer {

void LayerState::reorder(const at::Tensor& indices) {
  self.reorder(indices);
  if (memory) memory->reorder(indices);
}

Layer::Layer(const ModelOptions& o, const std::string& spec, bool causal, bool cross, std::string name)
    : name_(std::move(name)), post_norm_(o.norm_place == "post"), dropout_(o.dropout) {
  auto norm = [&](const char* of) {
    return register_module(of, std::make_shared<Norm>(o.norm, o.width, o.bias));
  };
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
  auto y = observed(name_, part, branch(post_norm_ ? x : norm.forward(x)));
  y = drop_out(y, dropout_, is_training());
  return post_norm_ ? norm.forward(x + y) : x + y;
}

at::Tensor Layer::taken(const at::Tensor& bias) const {
  return attention_->mixer().takes_bias() ? bias : at::Tensor();
}

void Layer::show_self(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias) const {
  if (!viewed()) return;
  const AttentionOptions& o = attention_->options();
  Sight sight{name_, "attention", short_spec(o.attention), o.causal, {}};
  if (attention_->mixer().takes_bias()) sight.weights = [&] { return attention_->weights(x, lengths, bias); };
  show(sight);
}

void Layer::show_cross(const at::Tensor& x, const Memory& memory) const {
  if (viewed()) show({name_, "cross", "V", false, [&] { return cross_->weights(x, memory); }});
}

at::Tensor Layer::forward(const at::Tensor& x, const at::Tensor& lengths, const at::Tensor& bias,
                          const at::Tensor& encoded, const at::Tensor& encoded_lengths) {
  auto y = residual(x, *attention_norm_, "attention", [&](const at::Tensor& h) {
    show_self(h, lengths, taken(bias));
    return attention_->forward(h, lengths, taken(bias));
  });
  if (cross_) {
    const Memory memory = cross_->remember(encoded, encoded_lengths);
    y = residual(y, *cross_norm_, "cross", [&](const at::Tensor& h) {
      show_cross(h, memory);
      return cross_->forward(h, memory);
    });
  }
  return residual(y, *feed_forward_norm_, "feed_forward",
                  [&](const at::Tensor& h) { return feed_forward_->forward(h); });
}

LayerState Layer::start(int64_t batch, const at::Tensor& encoded, const at::Tensor& encoded_lengths) const {
  LayerState state{attention_->start(batch), {}};
  if (cross_) state.memory = cross_->remember(encoded, encoded_lengths);
  return state;
}

at::Tensor Layer::step(const at::Tensor& x, LayerState& state, const at::Tensor& bias) {
  auto y = residual(x, *attention_norm_, "attention",
                    [&](const at::Tensor& h) { return attention_->step(h, state.self, taken(bias)); });
  if (cross_) {
    y = residual(y, *cross_norm_, "cross", [&](const at::Tensor& h) {
      const Memory& memory = *state.memory;  // rows that share one are rows of one text to it
      return cross_->forward(h.reshape({-1, memory.share, h.size(1)}), memory).view(h.sizes());
    });
  }
  return residual(y, *feed_forward_norm_, "feed_forward",
                  [&](const at::Tensor& h) { return feed_forward_->forward(h); });
}

}  // namespace synthesizer
