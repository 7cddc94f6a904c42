#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/options.h"
#include "base/choice.h"

namespace synthesizer {

// What users choose from; reading, writing, help and messages use these names.

enum class NormKind { layer, rms };
inline Choices choices(NormKind) {
  static constexpr ChoiceName names[] = {{"layer"}, {"rms"}};
  return names;
}

/// Before each residual branch, or after its sum.
enum class NormPlace { pre, post };
inline Choices choices(NormPlace) {
  static constexpr ChoiceName names[] = {{"pre"}, {"post"}};
  return names;
}

enum class PositionKind { sinusoidal, split_sinusoidal, learned, relative, none };
inline Choices choices(PositionKind) {
  static constexpr ChoiceName names[] = {{"sinusoidal"},
                                         {"split-sinusoidal", "all sines first: Marian"},
                                         {"learned"},
                                         {"relative", "T5"},
                                         {"none"}};
  return names;
}

enum class Activation { relu, gelu, gelu_tanh, swish, gated_relu, gated_gelu, gated_gelu_tanh };
inline Choices choices(Activation) {
  static constexpr ChoiceName names[] = {{"relu"},
                                         {"gelu"},
                                         {"gelu-tanh", "its approximation by tanh: GPT-2"},
                                         {"swish"},
                                         {"gated-relu"},
                                         {"gated-gelu"},
                                         {"gated-gelu-tanh", "T5 1.1"}};
  return names;
}

/// Which of a classifier's outputs stand for the text.
enum class Pooling { mean, first, first_tanh };
inline Choices choices(Pooling) {
  static constexpr ChoiceName names[] = {
      {"mean"}, {"first"}, {"first-tanh", "the first through a linear map and tanh: BERT"}};
  return names;
}

/// What a model is. Each field is a key of [model] in a recipe; see task/recipe_keys.cpp for their help.
struct ModelOptions {
  std::vector<std::string> attention = {"V"};  ///< one for all layers, or one per layer
  std::vector<std::string> encoder_attention;  ///< empty: as attention
  std::vector<std::string> decoder_attention;  ///< empty: as attention
  OptionMap attention_options;                 ///< rank and the like, for the layers that take them and have
                                               ///< none of their own ("light-conv:15")
  int64_t width = 256, heads = 4, layers = 4;
  int64_t encoder_layers = 0, decoder_layers = 0;  ///< 0: as layers
  int64_t recurrent_depth = 0;   ///< over 0: one layer applied so often (Universal Transformer)
  double halting_threshold = 0;  ///< over 0: positions stop by themselves, after recurrent_depth at most
  int64_t feed_forward = 1024;
  int64_t max_length = 256;
  double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::pre;
  double norm_epsilon = 1e-5;
  bool embedding_norm = false;  ///< a norm of the embeddings with their positions, before the first layer
  PositionKind positions = PositionKind::sinusoidal;
  Activation activation = Activation::relu;
  bool bias = true;              ///< of projections and norms
  bool output_bias = false;      ///< of the logits of tokens or classes
  bool embedding_scale = true;   ///< embeddings are multiplied by √width
  bool tied = true;              ///< the output projection is the embedding of the target
  bool shared_embedding = true;  ///< one embedding for source and target, where the tokenizer is joint
  Pooling pooling = Pooling::mean;
};

/// One of the two sides: how many layers, and which attention each has.
enum class Side { encoder, decoder };
/// One spec per layer. Throws InvalidInput where a list has another number of entries than there are layers.
std::vector<std::string> attention_of_layers(const ModelOptions& options, Side side);

/// The attention layer itself: what the model's options mean for a layer with that spec.
AttentionOptions layer_attention(const ModelOptions& options, const std::string& spec, bool causal);

/// Names of attention_options that no layer of these sides takes.
std::vector<std::string> unused_options(const ModelOptions& options, const std::vector<Side>& sides);

/// Throws InvalidInput, with the recipe's key, where a value is out of its range or an attention unknown,
/// before anything is allocated. The attentions are checked of those sides that the model has.
void check(const ModelOptions& options, const std::vector<Side>& sides = {Side::encoder, Side::decoder});

}  // namespace synthesizer
