#pragma once

#include <string>

#include "interop/onnx_model.h"

namespace synthesizer {

/// The baseline `kind` (light-conv, dynamic-conv or linformer) as nodes; the other parameters as of
/// onnx_self_attention.
OnnxValue onnx_baseline(OnnxModel& model, const OnnxSequence& sequence, const OnnxValue& x,
                        const std::string& name, const AttentionOptions& layer, const std::string& kind);

/// Whether onnx_baseline knows the baseline of that name.
bool is_onnx_baseline(const std::string& name);

}  // namespace synthesizer
