// Classifiers of BERT: an encoder with learned positions, a norm before the first layer, and a pooler.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "interop/family.h"
#include "interop/foreign_files.h"
#include "interop/tokenizer_files.h"

namespace synthesizer {
namespace {

/// The names of the classes, by number. A label is one line of what classify writes, and says which class it
/// is.
std::vector<std::string> class_names(ForeignConfig& config, int64_t count) {
  std::vector<std::string> names;
  for (int64_t n = 0; n < count; ++n) names.push_back(fmt::format("LABEL_{}", n));
  const auto& given = config.value("id2label");
  if (given.is_null()) return names;
  std::set<std::string> different;
  for (int64_t n = 0; n < count; ++n) {
    const auto found = given.is_object() ? given.find(std::to_string(n)) : given.end();
    if (found == given.end() || !found->is_string() || static_cast<int64_t>(given.size()) != count)
      config.refuse("id2label", fmt::format("does not name the {} classes of the weights", count));
    std::string& name = names[static_cast<size_t>(n)] = found->get<std::string>();
    if (name.empty() || name.find_first_of("\r\n") != std::string::npos)
      config.refuse("id2label", fmt::format("names class {} with an empty line or several lines", n));
    if (!different.insert(name).second)
      config.refuse("id2label", fmt::format("names two classes '{}'", shortened(name)));
  }
  return names;
}

ModelOptions bert_model(ForeignConfig& config) {
  ModelOptions model;
  model.attention = {"V"};
  model.attention_options.set("query_bias", true);
  model.width = config.integer("hidden_size", kSizes);
  model.heads = config.integer("num_attention_heads", kSizes);
  model.layers = model.encoder_layers = config.integer("num_hidden_layers", kSizes);
  model.decoder_layers = model.layers;
  model.feed_forward = config.integer("intermediate_size", kSizes);
  model.max_length = config.integer("max_position_embeddings", 512, kSizes);
  model.dropout = config.real("hidden_dropout_prob", 0.1);
  model.attention_dropout = config.real("attention_probs_dropout_prob", 0.1);
  model.norm_place = NormPlace::post;
  model.norm_epsilon = config.real("layer_norm_eps", 1e-12);
  model.embedding_norm = true;
  model.positions = PositionKind::learned;
  model.activation = activation_named(config, "hidden_act", config.text("hidden_act", "gelu"));
  model.embedding_scale = false;
  model.output_bias = true;
  model.pooling = Pooling::first_tanh;
  config.expect("classifier_dropout", model.dropout);
  config.expect("position_embedding_type", "absolute");
  config.expect("is_decoder", false);
  config.expect("add_cross_attention", false);
  config.expect("is_encoder_decoder", false);
  config.without_effect({"pad_token_id", "bos_token_id", "eos_token_id", "directionality",
                         "tie_word_embeddings", "pooler_fc_size", "pooler_num_attention_heads",
                         "pooler_num_fc_layers", "pooler_size_per_head", "pooler_type", "num_labels"});
  check_heads(config, model);
  return model;
}

}  // namespace

TensorRules bert_rules(const ModelOptions& model, const TensorChange& positions, bool old_names) {
  const std::map<std::string, std::string> norm_kind = {{"weight", old_names ? "gamma" : "weight"},
                                                        {"bias", old_names ? "beta" : "bias"}};
  TensorRules rules = {{"embedding.weight", "bert.embeddings.word_embeddings.weight"},
                       {"encoder.positions.weight", "bert.embeddings.position_embeddings.weight", positions}};
  const std::string ours = "encoder.layers.{}.", theirs = "bert.encoder.layer.{}.";
  TensorRules layer;
  for (const auto& [kind, norm] : norm_kind) {
    rules.push_back({"encoder.embedding_norm." + kind, "bert.embeddings.LayerNorm." + norm});
    rules.push_back({"pooler." + kind, "bert.pooler.dense." + kind});
    rules.push_back({"classes." + kind, "classifier." + kind});
    layer.push_back({ours + "attention.logits.V.query." + kind, theirs + "attention.self.query." + kind});
    const bool cancelled = kind == "bias";  // a bias of the keys has no effect
    layer.push_back(
        {ours + "attention.logits.V.key." + kind, theirs + "attention.self.key." + kind, {}, cancelled});
    layer.push_back({ours + "attention.value." + kind, theirs + "attention.self.value." + kind});
    layer.push_back({ours + "attention.output." + kind, theirs + "attention.output.dense." + kind});
    layer.push_back({ours + "attention_norm." + kind, theirs + "attention.output.LayerNorm." + norm});
    layer.push_back({ours + "feed_forward.in." + kind, theirs + "intermediate.dense." + kind});
    layer.push_back({ours + "feed_forward.out." + kind, theirs + "output.dense." + kind});
    layer.push_back({ours + "feed_forward_norm." + kind, theirs + "output.LayerNorm." + norm});
  }
  add_layers(rules, model.encoder_layers, layer);
  return rules;
}

ModelPlan plan_bert(ModelFolder& folder) {
  ForeignConfig& config = folder.config;
  ForeignWeights& weights = folder.weights;
  if (!weights.has("classifier.weight") || !weights.has("bert.pooler.dense.weight")) {
    invalid(fmt::format("{} is not a classifier: of BERT, models for sequence classification are supported",
                        folder.path));
  }
  if (config.text("problem_type", "single_label_classification") != "single_label_classification")
    config.refuse("problem_type", "is not single_label_classification, which alone is supported");
  ModelPlan plan;
  plan.recipe.task = "classification";
  ModelOptions& model = plan.recipe.model = bert_model(config);
  const int64_t tokens = config.integer("vocab_size", kVocabularies);
  check_shape(weights, "bert.embeddings.word_embeddings.weight", {tokens, model.width});
  check_layers(weights, "bert.encoder.layer.{}.intermediate.dense.weight", model.layers,
               {model.feed_forward, model.width});
  const auto classes = weights.shape("classifier.weight");
  if (classes.size() != 2) check_shape(weights, "classifier.weight", {2, model.width});
  plan.recipe.data.labels = class_names(config, classes[0]);
  if (plan.recipe.data.labels.size() < 2)
    invalid(fmt::format("{} has one class: it is a regression, which is not supported", folder.path));

  // All tokens of a text are of the first type, whose vector is added to those of the positions.
  const auto types = weights.take("bert.embeddings.token_type_embeddings.weight");
  if (types.dim() != 2 || types.size(0) != config.integer("type_vocab_size", 2) ||
      types.size(1) != model.width)
    config.refuse("type_vocab_size", "does not fit the weights");
  auto with_type = [type = types.select(0, 0)](const at::Tensor& positions) {
    return positions.dim() == 2 && positions.size(1) == type.size(0) ? positions + type : positions;
  };
  // The first files call a norm's tensors gamma and beta.
  const bool old_names = weights.has("bert.embeddings.LayerNorm.gamma");
  plan.rules = bert_rules(model, {with_type}, old_names);
  weights.skip("bert.embeddings.position_ids");
  const auto tokenizer = bert_tokenizer(folder, tokens);
  plan.tokenizers = {tokenizer, tokenizer};
  return plan;
}

}  // namespace synthesizer
