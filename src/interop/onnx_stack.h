#pragma once

#include <string>

#include "interop/onnx_model.h"

namespace synthesizer {

/// Tokens B×L to vectors B×L×D: the rows of "name.weight", times √width where the model says so.
OnnxValue onnx_embedding(OnnxModel& model, const OnnxValue& tokens, const std::string& name);

/// Which of a batch's columns are no padding: boolean, B×L, from the lengths (B) and 0 … L-1.
OnnxValue onnx_real(OnnxModel& model, const OnnxValue& lengths, const OnnxValue& places);

/// The output of an encoder, for the cross-attention of a decoder.
struct OnnxMemory {
  OnnxValue encoded;  ///< B×M×D
  OnnxValue lengths;  ///< B
};

/// A stack of layers as Stack::forward computes it (model/stack.h), from embedded tokens B×L×D, with
/// positions, and the norm at its end where it has one.
OnnxValue onnx_encoder(OnnxModel& model, const OnnxValue& embedded, const OnnxValue& lengths);
/// Causal; `memory` null: without cross-attention.
OnnxValue onnx_decoder(OnnxModel& model, const OnnxValue& embedded, const OnnxMemory* memory);

}  // namespace synthesizer
