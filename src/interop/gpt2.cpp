// GPT-2: a decoder alone with learned positions, whose matrices are stored input first.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "interop/family.h"
#include "interop/tokenizer_files.h"

namespace synthesizer {
namespace {

ModelOptions gpt2_model(ForeignConfig& config) {
  ModelOptions model;
  model.attention = {"V"};
  model.attention_options.set("query_bias", true);
  model.width = config.integer("n_embd", kSizes);
  model.heads = config.integer("n_head", kSizes);
  model.layers = model.decoder_layers = config.integer("n_layer", kSizes);
  model.encoder_layers = model.layers;
  model.feed_forward = config.integer("n_inner", 4 * model.width, kSizes);
  model.max_length = config.integer("n_positions", 1024, kSizes);
  config.expect("n_ctx", model.max_length);
  model.dropout = config.real("resid_pdrop", 0.1);
  model.attention_dropout = config.real("attn_pdrop", 0.1);
  model.norm_epsilon = config.real("layer_norm_epsilon", 1e-5);
  model.positions = PositionKind::learned;
  model.activation =
      activation_named(config, "activation_function", config.text("activation_function", "gelu_new"));
  model.embedding_scale = false;
  config.expect("embd_pdrop", model.dropout);
  config.expect("scale_attn_weights", true);
  config.expect("scale_attn_by_inverse_layer_idx", false);
  config.expect("reorder_and_upcast_attn", false);
  config.expect("add_cross_attention", false);
  config.expect("is_encoder_decoder", false);
  config.without_effect({"summary_type", "summary_use_proj", "summary_activation", "summary_proj_to_labels",
                         "summary_first_dropout", "id2label", "classifier_dropout"});
  check_heads(config, model);
  return model;
}

}  // namespace

TensorRules gpt2_rules(const ModelOptions& model, const std::string& root) {
  TensorRules rules = {{"embedding.weight", root + "wte.weight"},
                       {"decoder.positions.weight", root + "wpe.weight"},
                       {"decoder.norm.weight", root + "ln_f.weight"},
                       {"decoder.norm.bias", root + "ln_f.bias"}};
  if (!model.tied) rules.push_back({"output.weight", "lm_head.weight"});
  const std::string ours = "decoder.layers.{}.", theirs = root + "h.{}.";
  TensorRules layer;
  for (const std::string kind : {"weight", "bias"}) {
    const std::string attention = theirs + "attn.c_attn." + kind;
    layer.push_back({ours + "attention.logits.V.query." + kind, attention, part_of_columns(0, 3)});
    const bool cancelled = kind == "bias";  // a bias of the keys has no effect
    layer.push_back({ours + "attention.logits.V.key." + kind, attention, part_of_columns(1, 3), cancelled});
    layer.push_back({ours + "attention.value." + kind, attention, part_of_columns(2, 3)});
    layer.push_back({ours + "attention.output." + kind, theirs + "attn.c_proj." + kind, transposed()});
    layer.push_back({ours + "attention_norm." + kind, theirs + "ln_1." + kind});
    layer.push_back({ours + "feed_forward_norm." + kind, theirs + "ln_2." + kind});
    layer.push_back({ours + "feed_forward.in." + kind, theirs + "mlp.c_fc." + kind, transposed()});
    layer.push_back({ours + "feed_forward.out." + kind, theirs + "mlp.c_proj." + kind, transposed()});
  }
  add_layers(rules, model.decoder_layers, layer);
  return rules;
}

ModelPlan plan_gpt2(ModelFolder& folder) {
  ForeignConfig& config = folder.config;
  ForeignWeights& weights = folder.weights;
  ModelPlan plan;
  plan.recipe.task = "language-model";
  ModelOptions& model = plan.recipe.model = gpt2_model(config);
  // The first files had no prefix.
  const std::string root = weights.has("transformer.wte.weight") ? "transformer." : "";
  const int64_t tokens = config.integer("vocab_size", kVocabularies);
  check_shape(weights, root + "wte.weight", {tokens, model.width});
  check_layers(weights, root + "h.{}.mlp.c_fc.weight", model.layers, {model.width, model.feed_forward});
  model.tied = is_tied(weights, "lm_head.weight", root + "wte.weight");
  config.without_effect({"tie_word_embeddings"});  // the weights say it
  plan.rules = gpt2_rules(model, root);
  for (int64_t n = 0; n < model.layers; ++n) {  // the causal mask, which some files hold
    weights.skip(fmt::format("{}h.{}.attn.bias", root, n));
    weights.skip(fmt::format("{}h.{}.attn.masked_bias", root, n));
  }
  const Token end = config.token("eos_token_id", 50256, tokens);
  check_sampling_settings(folder, end);
  const auto tokenizer = gpt2_tokenizer(folder, tokens, end);
  plan.tokenizers = {tokenizer, tokenizer};
  return plan;
}

}  // namespace synthesizer
