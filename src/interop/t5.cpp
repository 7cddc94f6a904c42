// T5: pre-norm without biases, relative positions, RMS norms; 1.0 with ReLU and one table for everything, 1.1
// with gated GELU and a table of its own for the output.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/family.h"
#include "interop/tokenizer_files.h"
#include "model/activation.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

/// Their attention has heads of any width, ours those of width / heads. Where theirs are fewer, heads of
/// zeros stand for the others: they add nothing, and stay so in training.
TensorRules t5_attention(const std::string& ours, const std::string& theirs, const std::string& logits,
                         const ModelOptions& model, int64_t heads) {
  // Their logits are not divided by √K: ours are, so the queries are larger by it.
  const int64_t head_width = model.width / model.heads;
  const double root = std::sqrt(static_cast<double>(head_width));
  const auto rows = padded(0, heads * head_width, model.width);
  return {{ours + logits + "query.weight", theirs + "q.weight", then(times(root), rows)},
          {ours + logits + "key.weight", theirs + "k.weight", rows},
          {ours + "value.weight", theirs + "v.weight", rows},
          {ours + "output.weight", theirs + "o.weight", padded(1, heads * head_width, model.width)}};
}

TensorRules t5_layer(const std::string& side, const ModelOptions& model, int64_t heads) {
  const std::string ours = side + ".layers.{}.", theirs = side + ".block.{}.layer.";
  TensorRules rules =
      t5_attention(ours + "attention.", theirs + "0.SelfAttention.", "logits.V.", model, heads);
  auto add = [&](const TensorRules& more) { rules.insert(rules.end(), more.begin(), more.end()); };
  add({{ours + "attention_norm.weight", theirs + "0.layer_norm.weight"}});
  const bool decoder = side == "decoder";
  if (decoder) {
    add(t5_attention(ours + "cross.", theirs + "1.EncDecAttention.", "", model, heads));
    add({{ours + "cross_norm.weight", theirs + "1.layer_norm.weight"}});
  }
  const bool gated = is_gated(model.activation);
  const std::string last = theirs + (decoder ? "2." : "1."), dense = last + "DenseReluDense.";
  add({{ours + "feed_forward_norm.weight", last + "layer_norm.weight"},
       {ours + "feed_forward.in.weight", dense + (gated ? "wi_1.weight" : "wi.weight")},
       {ours + "feed_forward.out.weight", dense + "wo.weight"}});
  if (gated) add({{ours + "feed_forward.gate.weight", dense + "wi_0.weight"}});
  return rules;
}

/// feed_forward_proj says both, "gated-gelu"; dense_act_fn and is_gated_act, where they are set, come before
/// it.
Activation t5_activation(ForeignConfig& config) {
  const std::string projection = config.text("feed_forward_proj", "relu");
  const bool gated = config.flag("is_gated_act", projection.starts_with("gated-"));
  const std::string said =
      projection == "gated-gelu" ? "gelu_new" : projection.substr(projection.find('-') + 1);
  const std::string key = config.has("dense_act_fn") ? "dense_act_fn" : "feed_forward_proj";
  const Activation plain = activation_named(config, key, config.text("dense_act_fn", said));
  if (!gated) return plain;
  if (plain == Activation::gelu_tanh) return Activation::gated_gelu_tanh;
  if (plain == Activation::gelu) return Activation::gated_gelu;
  if (plain == Activation::relu) return Activation::gated_relu;
  config.refuse(key, "is swish with a gate, which is not supported");
}

ModelOptions t5_model(ForeignConfig& config) {
  ModelOptions model;
  model.attention = {"V"};
  model.width = config.integer("d_model", kSizes);
  const int64_t head_width = config.integer("d_kv", kSizes), count = config.integer("num_heads", kSizes);
  if (model.width % head_width != 0 || count > model.width / head_width) {
    config.refuse("d_kv", fmt::format("is {} with {} heads and a width of {}: heads are supported that fit "
                                      "into the width",
                                      head_width, count, model.width));
  }
  model.heads = model.width / head_width;
  model.encoder_layers = config.integer("num_layers", kSizes);
  model.decoder_layers = config.integer("num_decoder_layers", model.encoder_layers, kSizes);
  model.layers = model.encoder_layers;
  model.feed_forward = config.integer("d_ff", kSizes);
  model.max_length = config.integer("n_positions", 512, kSizes);
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
  config.expect("is_encoder_decoder", true);
  config.without_effect({"classifier_dropout", "num_hidden_layers", "id2label"});
  return model;
}

}  // namespace

TensorRules t5_rules(const ModelOptions& model, int64_t heads) {
  TensorRules rules;
  for (const std::string side : {"encoder", "decoder"}) {
    rules.push_back({side + ".positions.relative",
                     side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
                     padded(1, heads, model.heads)});
    rules.push_back({side + ".norm.weight", side + ".final_layer_norm.weight"});
    add_layers(rules, side == "encoder" ? model.encoder_layers : model.decoder_layers,
               t5_layer(side, model, heads));
  }
  return rules;
}

ModelPlan plan_t5(ModelFolder& folder) {
  ForeignConfig& config = folder.config;
  ForeignWeights& weights = folder.weights;
  ModelPlan plan;
  plan.recipe.task = "translation";
  ModelOptions& model = plan.recipe.model = t5_model(config);
  const int64_t count = config.integer("vocab_size", kVocabularies);
  check_shape(weights, "shared.weight", {count, model.width});
  const std::string wide =
      is_gated(model.activation) ? "DenseReluDense.wi_1.weight" : "DenseReluDense.wi.weight";
  check_layers(weights, "encoder.block.{}.layer.1." + wide, model.encoder_layers,
               {model.feed_forward, model.width});
  check_layers(weights, "decoder.block.{}.layer.2." + wide, model.decoder_layers,
               {model.feed_forward, model.width});
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
  TensorRules& rules = plan.rules = t5_rules(model, config.integer("num_heads", kSizes));
  rules.push_back({"embedding.weight", "shared.weight", times(1 / root)});
  if (!model.tied) {
    rules.push_back(
        {"output.weight", own_output ? "lm_head.weight" : "shared.weight", times(scaled ? 1 / root : 1)});
  }
  // Earlier versions saved one that was never used.
  weights.skip("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight");

  const Token begin = config.token("decoder_start_token_id", 0, count);
  const Token end = config.token("eos_token_id", 1, count);
  const SpecialTokens tokens{
      .start = begin, .end = end, .pad = begin, .count = count, .end_is_forced = false};
  const Token forbidden = read_search_settings(folder, tokens, plan.recipe.decode);
  const auto tokenizer = t5_tokenizer(folder, count, begin, end, forbidden);
  plan.tokenizers = {tokenizer, tokenizer};
  return plan;
}

}  // namespace synthesizer
