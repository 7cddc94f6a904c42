#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/options.h"

namespace synthesizer {

/// What a model is. Each field is a key of [model] in a recipe; see task/recipe_keys.cpp for their help.
struct ModelOptions {
  std::vector<std::string> attention = {"V"};  ///< one for all layers, or one a layer
  std::vector<std::string> encoder_attention;  ///< empty: as attention
  std::vector<std::string> decoder_attention;  ///< empty: as attention
  OptionMap attention_options;                 ///< rank and the like, for the layers that take them and have
                                               ///< none of their own ("light-conv:15")
  int64_t width = 256, heads = 4, layers = 4;
  int64_t encoder_layers = 0, decoder_layers = 0;  ///< 0: as layers
  int64_t recurrent_depth = 0;  ///< over 0: one layer applied so often (Universal Transformer)
  int64_t feed_forward = 1024;
  int64_t max_length = 256;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  std::string norm = "layer";            ///< or "rms"
  std::string norm_place = "pre";        ///< or "post"
  std::string positions = "sinusoidal";  ///< or "learned", "relative", "none"
  std::string activation = "relu";       ///< or "gelu", "gated-relu", "gated-gelu"
  bool bias = true;                      ///< of projections and norms
  bool tied = true;                      ///< the output projection is the embedding of the target
  bool shared_embedding = true;  ///< one embedding for source and target, where the tokenizer is joint
  std::string pooling = "mean";  ///< or "first": which of a classifier's outputs stand for the text
};

/// One of the two sides: how many layers, and which attention each has.
enum class Side { encoder, decoder };
/// One spec a layer. Throws InvalidInput where a list has another number of entries than there are layers.
std::vector<std::string> attention_of_layers(const ModelOptions& options, Side side);

/// The attention layer itself: what the model's options mean for a layer with that spec.
AttentionOptions layer_attention(const ModelOptions& options, const std::string& spec, bool causal);

/// Throws InvalidInput, with the recipe's key, where a value is out of its range or an attention unknown,
/// before anything is allocated. The attentions are checked of those sides that the model has.
void check(const ModelOptions& options, const std::vector<Side>& sides = {Side::encoder, Side::decoder});

}  // namespace synthesizer
