#pragma once

#include <string>

#include "task/task.h"

namespace synthesizer {

/// Writes the model as a folder that CTranslate2 (4.x) loads: model.bin, config.json and the vocabularies,
/// whose words are our pieces. Weights are float32; CTranslate2 quantizes them as it loads them
/// (compute_type).
///
/// Throws InvalidInput, and writes nothing, where the model is not an encoder-decoder with V in all layers,
/// or has something else that CTranslate2 does not.
void export_ctranslate2(Task& task, const std::string& folder);

}  // namespace synthesizer
