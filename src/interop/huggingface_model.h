#pragma once

#include "interop/huggingface_tokenizers.h"
#include "task/task.h"
#include "train/named_tensors.h"

namespace synthesizer {

/// What a folder of Hugging Face holds of a run.
struct HuggingFaceModel {
  FolderFiles files;     ///< config.json, generation_config.json and those of the tokenizer
  NamedTensors tensors;  ///< of model.safetensors
};

/// Throws InvalidInput where no layout is that of the run; see export_huggingface.
HuggingFaceModel huggingface_model(Task& task);

}  // namespace synthesizer
