// MarianMT, the OPUS-MT models of Hugging Face: post-norm, swish, sines before cosines, a bias of the output.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/family.h"
#include "interop/tokenizer_files.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

TensorRules marian_layer(const std::string& side) {
  const std::string ours = side + ".layers.{}.", theirs = "model." + side + ".layers.{}.";
  TensorRules rules;
  auto add = [&](const std::string& to, const std::string& from, bool bias_without_effect = false) {
    rules.push_back({ours + to + ".weight", theirs + from + ".weight"});
    rules.push_back({ours + to + ".bias", theirs + from + ".bias", {}, bias_without_effect});
  };
  add("attention.logits.V.query", "self_attn.q_proj");
  // A bias of the keys adds one number to a whole row of logits, which softmax cancels.
  add("attention.logits.V.key", "self_attn.k_proj", true);
  add("attention.value", "self_attn.v_proj");
  add("attention.output", "self_attn.out_proj");
  add("attention_norm", "self_attn_layer_norm");
  add("feed_forward.in", "fc1");
  add("feed_forward.out", "fc2");
  add("feed_forward_norm", "final_layer_norm");
  if (side == "decoder") {
    add("cross.query", "encoder_attn.q_proj");
    add("cross.key", "encoder_attn.k_proj");
    add("cross.value", "encoder_attn.v_proj");
    add("cross.output", "encoder_attn.out_proj");
    add("cross_norm", "encoder_attn_layer_norm");
  }
  return rules;
}

/// Positions that some files hold though they follow from a formula.
void check_positions(ModelFolder& folder, const ModelOptions& model) {
  for (const char* name : {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}) {
    if (!folder.weights.has(name)) continue;
    const auto theirs = folder.weights.take(name), ours = split_sinusoids(model.max_length, model.width);
    if (theirs.sizes() != ours.sizes() || !at::allclose(theirs, ours, 1e-4, 1e-4)) {
      invalid(fmt::format("{}: '{}' are not the sinusoids of Marian, and others are not supported",
                          folder.weights.file(), name));
    }
  }
}

ModelOptions marian_model(ForeignConfig& config) {
  ModelOptions model;
  model.attention = {"V"};
  model.attention_options.set("query_bias", true);
  model.width = config.integer("d_model", kSizes);
  model.heads = config.integer("encoder_attention_heads", kSizes);
  config.expect("decoder_attention_heads", model.heads);
  model.encoder_layers = config.integer("encoder_layers", kSizes);
  model.decoder_layers = config.integer("decoder_layers", kSizes);
  model.layers = model.encoder_layers;
  model.feed_forward = config.integer("encoder_ffn_dim", kSizes);
  config.expect("decoder_ffn_dim", model.feed_forward);
  model.max_length = config.integer("max_position_embeddings", 1024, kSizes);
  model.dropout = config.real("dropout", 0.1);
  model.attention_dropout = config.real("attention_dropout", 0);
  model.activation_dropout = config.real("activation_dropout", 0);
  model.norm_place = NormPlace::post;
  model.positions = PositionKind::split_sinusoidal;
  model.activation =
      activation_named(config, "activation_function", config.text("activation_function", "gelu"));
  model.embedding_scale = config.flag("scale_embedding", false);
  model.output_bias = true;
  config.expect("normalize_before", false);
  config.expect("normalize_embedding", false);
  config.expect("add_final_layer_norm", false);
  config.expect("static_position_embeddings", true);
  config.expect("encoder_layerdrop", 0.0);
  config.expect("decoder_layerdrop", 0.0);
  config.expect("is_decoder", false);
  config.expect("is_encoder_decoder", true);
  config.without_effect({"add_bias_logits", "classif_dropout", "classifier_dropout", "num_hidden_layers",
                         "do_blenderbot_90_layernorm", "id2label", "save_step", "add_cross_attention",
                         "sep_token_id", "tie_encoder_decoder", "extra_pos_embeddings"});
  check_heads(config, model);
  return model;
}

}  // namespace

TensorRules marian_rules(const ModelOptions& model, bool shared) {
  TensorRules rules;
  if (shared) {
    rules.push_back({"embedding.weight", "model.shared.weight"});
  } else {
    rules.push_back({"source_embedding.weight", "model.encoder.embed_tokens.weight"});
    rules.push_back({"target_embedding.weight", "model.decoder.embed_tokens.weight"});
  }
  if (!model.tied) rules.push_back({"output.weight", "lm_head.weight"});
  rules.push_back({"output.bias", "final_logits_bias", one_row()});
  add_layers(rules, model.encoder_layers, marian_layer("encoder"));
  add_layers(rules, model.decoder_layers, marian_layer("decoder"));
  return rules;
}

ModelPlan plan_marian(ModelFolder& folder) {
  ForeignConfig& config = folder.config;
  ForeignWeights& weights = folder.weights;
  ModelPlan plan;
  plan.recipe.task = "translation";
  ModelOptions& model = plan.recipe.model = marian_model(config);
  const int64_t source_size = config.integer("vocab_size", kVocabularies);
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);
  const int64_t target_size = config.integer("decoder_vocab_size", source_size, kVocabularies);
  model.shared_embedding = shared;
  const std::string one_table = "model.shared.weight";
  check_shape(weights, shared ? one_table : "model.encoder.embed_tokens.weight", {source_size, model.width});
  if (!shared) check_shape(weights, "model.decoder.embed_tokens.weight", {target_size, model.width});
  for (const auto& [side, layers] :
       {std::pair("encoder", model.encoder_layers), {"decoder", model.decoder_layers}}) {
    check_layers(weights, fmt::format("model.{}.layers.{{}}.fc1.weight", side), layers,
                 {model.feed_forward, model.width});
  }
  if (shared) {
    for (const char* name : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}) {
      if (!is_tied(weights, name, one_table))
        invalid(
            fmt::format("{}: '{}' is not '{}', though config.json says so", weights.file(), name, one_table));
    }
  }
  model.tied = is_tied(weights, "lm_head.weight", shared ? one_table : "model.decoder.embed_tokens.weight");
  if (config.flag("tie_word_embeddings", true) != model.tied && weights.has("lm_head.weight"))
    config.refuse("tie_word_embeddings", "does not say what the weights are");
  check_positions(folder, model);

  MarianFiles files{.model = "source.spm",
                    .vocabulary = "vocab.json",
                    .size = source_size,
                    .begin = config.token("decoder_start_token_id", target_size),
                    .end = config.token("eos_token_id", target_size),
                    .forbidden = -1,
                    .language_codes = true};
  const Token pad = config.token("pad_token_id", files.begin, target_size);
  const SpecialTokens tokens{.start = files.begin,
                             .end = files.end,
                             .pad = pad,
                             .count = target_size,
                             .end_is_forced = true};  // by the defaults of transformers for this family
  const Token forbidden = read_search_settings(folder, tokens, plan.recipe.decode);
  // Of the source no text is written, and its own vocabulary may lack what the target's begins with.
  MarianFiles source_files = files;
  if (!shared) source_files.begin = source_files.end;
  const auto source = marian_tokenizer(folder.path, source_files);
  check_marian_settings(folder, *source, pad);
  files.model = "target.spm";
  if (!shared) files.vocabulary = "target_vocab.json";
  files.size = target_size;
  files.forbidden = forbidden;
  files.language_codes = false;
  plan.tokenizers = {source, marian_tokenizer(folder.path, files)};
  plan.rules = marian_rules(model, shared);
  return plan;
}

}  // namespace synthesizer
