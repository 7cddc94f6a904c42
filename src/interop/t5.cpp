// T5: pre-norm without biases, relative positions, RMS norms; 1.0 with ReLU and one table for everything, 1.1
// with gated GELU and a table of its own for the output.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/family.h"
#include "interop/tokenizer_files.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

/// Their attention has heads of any width, ours those of width / heads. Where theirs are fewer, heads of
/// zeros stand for the others: they add nothing, and stay so in training.
struct T5Heads {
  int64_t width, inner;  ///< of a head; of all of theirs
};

TensorRules t5_attention(const std::string& ours, const std::string& theirs, const std::string& logits,
                         int64_t width, const T5Heads& heads) {
  // Their logits are not divided by √K: ours are, so the queries are larger by it.
  const auto rows = padded(0, width);
  return {{ours + logits + "query.weight", theirs + "q.weight",
           then(times(std::sqrt(static_cast<double>(heads.width))), rows)},
          {ours + logits + "key.weight", theirs + "k.weight", rows},
          {ours + "value.weight", theirs + "v.weight", rows},
          {ours + "output.weight", theirs + "o.weight", padded(1, width)}};
}

TensorRules t5_layer(const std::string& side, int64_t width, const T5Heads& heads, bool gated) {
  const std::string ours = side + ".layers.{}.", theirs = side + ".block.{}.layer.";
  TensorRules rules =
      t5_attention(ours + "attention.", theirs + "0.SelfAttention.", "logits.V.", width, heads);
  auto add = [&](const TensorRules& more) { rules.insert(rules.end(), more.begin(), more.end()); };
  add({{ours + "attention_norm.weight", theirs + "0.layer_norm.weight"}});
  const bool decoder = side == "decoder";
  if (decoder) {
    add(t5_attention(ours + "cross.", theirs + "1.EncDecAttention.", "", width, heads));
    add({{ours + "cross_norm.weight", theirs + "1.layer_norm.weight"}});
  }
  const std::string last = theirs + (decoder ? "2." : "1."), dense = last + "DenseReluDense.";
  add({{ours + "feed_forward_norm.weight", last + "layer_norm.weight"},
       {ours + "feed_forward.in.weight", dense + (gated ? "wi_1.weight" : "wi.weight")},
       {ours + "feed_forward.out.weight", dense + "wo.weight"}});
  if (gated) add({{ours + "feed_forward.gate.weight", dense + "wi_0.weight"}});
  return rules;
}

Activation t5_activation(ForeignConfig& config) {
  const std::string name = config.text("feed_forward_proj", "relu");
  config.without_effect({"dense_act_fn", "is_gated_act"});  // follow from it
  if (name == "gated-gelu") return Activation::gated_gelu_tanh;
  if (name == "gated-relu") return Activation::gated_relu;
  if (!name.starts_with("gated-")) return activation_named(config, "feed_forward_proj", name);
  config.refuse("feed_forward_proj", fmt::format("is \"{}\", which is not supported", name));
}

ModelOptions t5_model(ForeignConfig& config, T5Heads& heads) {
  ModelOptions model;
  model.attention = {"V"};
  model.width = config.integer("d_model");
  heads.width = config.integer("d_kv");
  const int64_t count = config.integer("num_heads");
  heads.inner = count * heads.width;
  if (heads.width < 1 || model.width % heads.width != 0 || heads.inner > model.width) {
    config.refuse("d_kv", fmt::format("is {} with {} heads and a width of {}: heads are supported that fit "
                                      "into the width",
                                      heads.width, count, model.width));
  }
  model.heads = model.width / heads.width;
  model.encoder_layers = config.integer("num_layers");
  model.decoder_layers = config.integer("num_decoder_layers", model.encoder_layers);
  model.layers = model.encoder_layers;
  model.feed_forward = config.integer("d_ff");
  model.max_length = config.integer("n_positions", 512);
  model.dropout = config.real("dropout_rate", 0.1);
  model.attention_dropout = model.activation_dropout = model.dropout;
  model.norm = NormKind::rms;
  model.norm_epsilon = config.real("layer_norm_epsilon", 1e-6);
  model.positions = PositionKind::relative;
  model.activation = t5_activation(config);
  model.bias = false;
  config.expect("relative_attention_num_buckets", kRelativeBuckets);
  config.expect("relative_attention_max_distance", 128);
  config.expect("is_decoder", false);
  config.without_effect({"classifier_dropout", "num_hidden_layers", "n_positions", "id2label"});
  check_sizes(config, model);
  return model;
}

}  // namespace

ModelPlan plan_t5(ModelFolder& folder) {
  ForeignConfig& config = folder.config;
  ForeignWeights& weights = folder.weights;
  ModelPlan plan;
  plan.recipe.task = "translation";
  T5Heads heads{};
  ModelOptions& model = plan.recipe.model = t5_model(config, heads);
  const double root = std::sqrt(static_cast<double>(model.width));
  const bool says_tied = config.flag("tie_word_embeddings", true);
  const bool scaled = config.flag("scale_decoder_outputs", says_tied);
  for (const char* side : {"encoder", "decoder"}) {
    if (!is_tied(weights, fmt::format("{}.embed_tokens.weight", side), "shared.weight"))
      invalid(fmt::format("{}: '{}.embed_tokens.weight' is not 'shared.weight'", weights.file(), side));
  }
  const bool own_output = !is_tied(weights, "lm_head.weight", "shared.weight");
  // Ours multiplies embeddings by √width, theirs does not; where its output is divided by √width, one table
  // divided by it serves for both.
  model.tied = !own_output && scaled;
  TensorRules& rules = plan.rules;
  rules.push_back({"embedding.weight", "shared.weight", times(1 / root)});
  if (!model.tied) {
    rules.push_back(
        {"output.weight", own_output ? "lm_head.weight" : "shared.weight", times(scaled ? 1 / root : 1)});
  }
  const bool gated =
      model.activation == Activation::gated_gelu_tanh || model.activation == Activation::gated_relu;
  for (const std::string side : {"encoder", "decoder"}) {
    rules.push_back({side + ".positions.relative",
                     side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                     padded(1, model.heads)});
    rules.push_back({side + ".norm.weight", side + ".final_layer_norm.weight"});
    add_layers(rules, side == "encoder" ? model.encoder_layers : model.decoder_layers,
               t5_layer(side, model.width, heads, gated));
  }
  // Earlier versions saved one that was never used.
  weights.skip("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");

  read_generation_settings(folder, plan.recipe.decode);
  const auto begin = static_cast<Token>(config.integer("decoder_start_token_id", 0));
  const auto end = static_cast<Token>(config.integer("eos_token_id", 1));
  config.expect("pad_token_id", begin);
  config.expect("forced_eos_token_id", end);
  const auto tokenizer = t5_tokenizer(folder.path, config.integer("vocab_size"), begin, end);
  plan.tokenizers = {tokenizer, tokenizer};
  return plan;
}

}  // namespace synthesizer
