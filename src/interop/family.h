#pragma once

#include <string>
#include <vector>

#include "interop/foreign_config.h"
#include "interop/foreign_weights.h"
#include "interop/tensor_rules.h"
#include "task/recipe.h"
#include "task/tokenizers.h"

namespace synthesizer {

/// A folder of another program's model, opened.
struct ModelFolder {
  std::string path;
  ForeignConfig config;
  ForeignWeights weights;
};

/// What becomes of it: a recipe whose model has its form, the tokenizers, and where each tensor comes from.
struct ModelPlan {
  Recipe recipe;
  Tokenizers tokenizers;
  TensorRules rules;
};

// One function per family. Each reads all settings that it knows, implements them or refuses them by name,
// and marks tensors that are not needed. Throws InvalidInput.
ModelPlan plan_marian(ModelFolder& folder);
ModelPlan plan_t5(ModelFolder& folder);
ModelPlan plan_gpt2(ModelFolder& folder);
ModelPlan plan_bert(ModelFolder& folder);

/// Marian's own files: the .npz that decoder.yml of the folder names, and the plan for its tensors.
std::string marian_model_file(const std::string& folder);
ModelPlan plan_marian_npz(const std::string& folder, ForeignWeights& weights);

// What several families need.

/// "relu", "gelu", "gelu_new", "swish" … as ours. Throws InvalidInput for others.
Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name);

/// The settings of text generation of config.json and generation_config.json as ours: beam, length penalty,
/// lengths. Returns the one token that must never be written, or -1.
int64_t read_generation_settings(ModelFolder& folder, DecodeOptions& decode);

/// A tensor that some files have beside another one that it is tied to: true where it is missing or the same,
/// and then it is marked as not needed.
bool is_tied(ForeignWeights& weights, const std::string& name, const std::string& to);

/// The file in the folder; throws InvalidInput, saying what it is for, where it is missing.
std::string needed_file(const std::string& folder, const std::string& name, const std::string& what);

/// Throws InvalidInput where the width does not fit the heads, or a number is not positive.
void check_sizes(const ForeignConfig& config, const ModelOptions& model);

}  // namespace synthesizer
