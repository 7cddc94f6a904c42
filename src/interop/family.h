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
  IgnoredSettings ignored;
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

// The tensors of each family by name, for both directions: import reads by them, and export writes. `model`
// says the numbers of layers of both sides (not 0), and what is tied.

/// `shared`: one embedding for source and target.
TensorRules marian_rules(const ModelOptions& model, bool shared);
/// All but embeddings and output, whose factors depend on what is tied. `heads`: theirs, which may be fewer.
TensorRules t5_rules(const ModelOptions& model, int64_t heads);
/// `root`: "transformer.", or "" in the first files.
TensorRules gpt2_rules(const ModelOptions& model, const std::string& root);
/// `positions`: the change of their table of positions; `old_names`: gamma and beta of norms.
TensorRules bert_rules(const ModelOptions& model, const TensorChange& positions, bool old_names);

/// Marian's own settings of the search: decoder.yml of the folder, or what ends with .npz.decoder.yml, as
/// Marian itself writes it; "" where there is none. Throws InvalidInput where there are several of the
/// second.
std::string marian_decoder_file(const std::string& folder);
/// The .npz that they name, and the plan for its tensors.
std::string marian_model_file(const std::string& decoder);
ModelPlan plan_marian_npz(const std::string& decoder, ForeignWeights& weights, IgnoredSettings& ignored);

// What several families need.

/// "relu", "gelu", "gelu_new", "swish" … as ours. Throws InvalidInput for others.
Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name);

/// What decode.beam may be.
WholeNumbers beam_sizes();

/// The special tokens of an encoder-decoder, as config.json has them.
struct SpecialTokens {
  int64_t start, end, pad;
  int64_t count;       ///< tokens in all
  bool end_is_forced;  ///< at the maximum length, where the files do not say
};

/// The settings of text generation as ours: beam, length penalty, lengths. Those of generation_config.json
/// hold; without that file, those of config.json. Returns the one token that must never be written, or -1.
/// Throws InvalidInput, naming the setting, where it cannot be had here or other special tokens are set.
Token read_search_settings(ModelFolder& folder, const SpecialTokens& tokens, DecodeOptions& decode);

/// The same of a language model, whose text is drawn: how is given with every call. What is left must have no
/// effect.
void check_sampling_settings(ModelFolder& folder, int64_t end);

/// A tensor that some files have beside another one that it is tied to: true where it is missing or the same,
/// and then it is marked as not needed.
bool is_tied(ForeignWeights& weights, const std::string& name, const std::string& to);

/// Throws InvalidInput where the width does not fit the heads.
void check_heads(const ForeignConfig& config, const ModelOptions& model);

}  // namespace synthesizer
