#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace synthesizer {

/// A layer as a function of what gradients go to: x, the bias of relative positions, the encoder's output.
/// The last two may be undefined.
using LayerFunction =
    std::function<at::Tensor(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& encoded)>;

/// layer(x, bias, encoded), of which nothing is kept for the backward pass but these inputs: there the layer
/// is computed again, with the same dropout and precision, so that results and gradients have the same bits
/// as without this. (But for one layer that is applied several times in bfloat16: the gradients of its
/// applications are added in float32 here, and in bfloat16 otherwise.) Chen et al. 2016, "Training Deep Nets
/// with Sublinear Memory Cost".
at::Tensor recompute_in_backward(LayerFunction layer, const at::Tensor& x, const at::Tensor& bias,
                                 const at::Tensor& encoded);

}  // namespace synthesizer
