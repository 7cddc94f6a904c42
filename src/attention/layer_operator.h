#pragma once

#include <string>

#include "attention/options.h"

namespace synthesizer {

/// A layer as operators of torch.ops.synthesizer, for graphs that torch.compile and torch.export trace:
///
///     attention_layer(layer, tensors, x, lengths=None, bias=None, mask=None, training=False) Mixer::forward
///     attention_layer_weights(layer, tensors, x, lengths=None, bias=None, mask=None) Mixer::weights
///
/// `layer` is the description below, `tensors` are those of Mixer::parameters(). The operators are composite:
/// a tracer sees the ATen operators and the kernels (attend, convolve) that the layer calls, with their
/// shapes and gradients, and lengths and batch may be symbols.

/// The options of a layer as one line of text, from which the operators make it again.
std::string layer_description(const AttentionOptions& options);

}  // namespace synthesizer
