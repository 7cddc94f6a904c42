#pragma once

#include <string>

#include "task/task.h"

namespace synthesizer {

/// Writes the model as ONNX files (opset 17, float32) that compute our logits without this library:
///
///     language model    model.onnx      tokens B×L → logits B×L×V
///     classifier        model.onnx      tokens B×L, lengths B → logits B×C
///     encoder-decoder   encoder.onnx    source B×M, source_lengths B → memory B×M×D
///                       decoder.onnx    memory, source_lengths, target B×L → logits B×L×V
///
/// All inputs but the memory are int64. Padding stands on the right, any token may stand there, and lengths
/// are at least 1. What lies behind the length of a row of logits is finite and means nothing. Beside them:
/// config.json, the pieces of the vocabularies as JSON, and the tokenizers as a run folder has them.
///
/// Throws InvalidInput, and leaves nothing behind, where the model has something that has no form as a graph,
/// or is over 2 GB.
void export_onnx(Task& task, const std::string& folder);

}  // namespace synthesizer
