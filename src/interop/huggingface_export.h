#pragma once

#include <string>

#include "task/task.h"

namespace synthesizer {

/// Writes the model as a folder that the package transformers loads: config.json, generation_config.json,
/// model.safetensors (float32) and the files of the tokenizer. It is the way back of import_model; the
/// model's settings alone decide which layout it gets (MarianMT, T5, GPT-2, classifiers of BERT), so that
/// runs trained here can be exported as well as imported ones.
///
/// Throws InvalidInput, and writes nothing, where the model is not one of these layouts, or its tokenizer has
/// no form there; the message names what stands in the way.
void export_huggingface(Task& task, const std::string& folder);

}  // namespace synthesizer
