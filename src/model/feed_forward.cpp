#include "model/feed_forward.h"

#include <ATen/ATen.h>

#include "model/dropout.h"

namespace synthesizer {
namespace {

bool is_gated(Activation activation) {
  return activation == Activation::gated_relu || activation == Activation::gated_gelu ||
         activation == Activation::gated_gelu_tanh;
}

at::Tensor activated(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::gated_relu: return at::relu(x);
    case Activation::gelu:
    case Activation::gated_gelu: return at::gelu(x);
    case Activation::gelu_tanh:
    case Activation::gated_gelu_tanh: return at::gelu(x, "tanh");
    case Activation::swish: break;
  }
  return at::silu(x);
}

}  // namespace

FeedForward::FeedForward(const ModelOptions& o)
    : activation_(o.activation),
      dropout_(o.activation_dropout),
      in_(register_module("in", std::make_shared<Linear>(o.width, o.feed_forward, o.bias))) {
  if (is_gated(activation_)) {
    gate_ = register_module("gate", std::make_shared<Linear>(o.width, o.feed_forward, o.bias));
  }
  out_ = register_module("out", std::make_shared<Linear>(o.feed_forward, o.width, o.bias));
}

at::Tensor FeedForward::forward(const at::Tensor& x) const {
  auto h = gate_ ? activated(gate_->forward(x), activation_) * in_->forward(x)
                 : activated(in_->forward(x), activation_);
  h = drop_out(h, dropout_, is_training());
  return out_->forward(h);
}

}  // namespace synthesizer
