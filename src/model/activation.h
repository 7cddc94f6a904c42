#pragma once

#include <ATen/core/Tensor.h>

#include "model/options.h"

namespace synthesizer {

/// Whether the activation has a gate of its own: act(gate) ⊙ in.
bool is_gated(Activation activation);

/// What stands between the two matrices of a feed-forward part: act(in), or act(gate) ⊙ in where it is gated;
/// each B×…×F.
struct Activated {
  Activation activation;
  at::Tensor in, gate;  ///< gate undefined where there is none
};
at::Tensor activate(const Activated& h);

/// W · dropout(activate(h)) + b, with gradients. The activation, as wide as h and of no use but for W's
/// gradient, is not kept for the backward pass but made again there: a fifth of what a layer keeps.
at::Tensor map_activated(const Activated& h, double dropout, const at::Tensor& weight,
                         const at::Tensor& bias);

}  // namespace synthesizer
