#include "model/feed_forward.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "model/activation.h"
#include "model/dropout.h"

namespace synthesizer {

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
  const Activated h{activation_, in_->forward(x), gate_ ? gate_->forward(x) : at::Tensor()};
  const double dropout = is_training() ? dropout_ : 0;
  // (A ReLU alone is kept once for both gradients: there is nothing to save.)
  const bool kept_once = activation_ == Activation::relu && dropout == 0;
  if (kept_once || !c10::GradMode::is_enabled())
    return out_->forward(drop_out(activate(h), dropout, is_training()));
  return map_activated(h, dropout, out_->weight(), out_->bias());
}

}  // namespace synthesizer
