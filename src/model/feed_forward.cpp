#include "model/feed_forward.h"

#include <ATen/ATen.h>

#include "model/dropout.h"

namespace synthesizer {

FeedForward::FeedForward(const ModelOptions& o)
    : gelu_(o.activation == Activation::gelu || o.activation == Activation::gated_gelu),
      dropout_(o.activation_dropout),
      in_(register_module("in", std::make_shared<Linear>(o.width, o.feed_forward, o.bias))) {
  if (o.activation == Activation::gated_relu || o.activation == Activation::gated_gelu) {
    gate_ = register_module("gate", std::make_shared<Linear>(o.width, o.feed_forward, o.bias));
  }
  out_ = register_module("out", std::make_shared<Linear>(o.feed_forward, o.width, o.bias));
}

at::Tensor FeedForward::forward(const at::Tensor& x) const {
  auto activated = [&](const at::Tensor& h) { return gelu_ ? at::gelu(h) : at::relu(h); };
  auto h = gate_ ? activated(gate_->forward(x)) * in_->forward(x) : activated(in_->forward(x));
  h = drop_out(h, dropout_, is_training());
  return out_->forward(h);
}

}  // namespace synthesizer
