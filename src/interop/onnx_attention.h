#pragma once

#include <string>

#include "interop/onnx_model.h"

namespace synthesizer {

/// Self-attention as nodes: V, D, R, Fix, FR, FD, mixtures of them, and the baselines (onnx_baselines.h),
/// each as src/attention computes it. `name` is the module's, "decoder.layers.0.attention"; x and the result
/// are B×L×D. Rows of padding are not set to zero: nothing that counts sees them.
OnnxValue onnx_self_attention(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                              const std::string& name, const AttentionOptions& layer);

/// From a decoder (x, B×L×D) to the encoder's output (memory, B×M×D), of which `visible` (boolean, B×1×1×M)
/// counts.
OnnxValue onnx_cross_attention(OnnxModel& model, const OnnxValue& x, const OnnxValue& memory,
                               const OnnxValue& visible, const std::string& name);

/// Throws InvalidInput, with its name, where there is no form of that attention as a graph: a variant that
/// was added from outside of the library.
void check_onnx_attention(const std::string& spec);

}  // namespace synthesizer
