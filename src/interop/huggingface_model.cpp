// A run as a model of Hugging Face: settings, tensors and tokenizer of each layout. The tensors' names are
// those that import reads (family.h).

#include "interop/huggingface_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "interop/family.h"
#include "interop/huggingface_layout.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

/// Our model, changed step by step into one that computes the same and has what a layout wants.
struct OurModel {
  ModelOptions options;
  NamedTensors tensors;

  explicit OurModel(Task& task) : options(task.recipe().model), tensors(saved_tensors(task.model())) {
    for (int64_t* layers : {&options.encoder_layers, &options.decoder_layers}) {
      if (*layers == 0) *layers = options.layers;
    }
  }

  bool has(const std::string& name) const { return find(name) != tensors.end(); }
  const at::Tensor& get(const std::string& name) const {
    const auto found = find(name);
    if (found == tensors.end()) throw std::logic_error("the model has no " + name);
    return found->tensor;
  }
  void set(const std::string& name, const at::Tensor& tensor) {
    std::erase_if(tensors, [&](const NamedTensor& one) { return one.name == name; });
    tensors.push_back({name, tensor});
  }

  /// A table of its own for the output.
  void untie() {
    if (options.tied) set("output.weight", get("embedding.weight"));
    options.tied = false;
  }
  /// Embeddings that are multiplied by √width already. An output that is tied to them must be untied first.
  void scale_embedding() {
    if (options.embedding_scale)
      set("embedding.weight", get("embedding.weight") * std::sqrt(static_cast<double>(options.width)));
    options.embedding_scale = false;
  }
  /// Positions as a table, also where they follow from a formula.
  void store_positions(const std::string& side) {
    if (options.positions == PositionKind::learned) return;
    auto table = at::zeros({options.max_length, options.width});
    if (options.positions == PositionKind::sinusoidal) table = sinusoids(options.max_length, options.width);
    if (options.positions == PositionKind::split_sinusoidal)
      table = split_sinusoids(options.max_length, options.width);
    set(side + ".positions.weight", table);
    options.positions = PositionKind::learned;
  }

 private:
  NamedTensors::const_iterator find(const std::string& name) const {
    return std::find_if(tensors.begin(), tensors.end(),
                        [&](const NamedTensor& one) { return one.name == name; });
  }
};

const char* activation_name(Activation activation) {
  switch (activation) {
    case Activation::relu: return "relu";
    case Activation::gelu: return "gelu";
    case Activation::gelu_tanh: return "gelu_new";
    case Activation::swish: return "swish";
    case Activation::gated_relu: return "gated-relu";
    case Activation::gated_gelu_tanh: return "gated-gelu";  // T5's, which is by tanh
    case Activation::gated_gelu: break;
  }
  throw std::logic_error("an activation that no layout has");
}

Json config_of(const char* type, const char* architecture) {
  return {{"model_type", type}, {"architectures", {architecture}}, {"dtype", "float32"}};
}

/// How texts are made, where the run writes texts of another one: the way back of read_search_settings.
Json generation_of(const Task& task) {
  const DecodeOptions& decode = task.recipe().decode;
  const Tokenizer& target = *task.tokenizers().target;
  // Where ours depends on the source, and beyond the positions, these are the limit. Their maximum counts the
  // start of the output, and the end where it is forced; their minimum the start alone.
  const int64_t positions = task.recipe().model.max_length - 1;
  const int64_t longest = decode.max_length > 0 ? std::min(decode.max_length, positions) : positions;
  Json settings = {{"num_beams", decode.beam}, {"max_length", longest + (decode.forced_end ? 2 : 1)}};
  if (decode.beam > 1) {
    settings["length_penalty"] = decode.length_penalty;
    settings["early_stopping"] = decode.early_stopping       ? Json(true)
                                 : decode.transformers_rules ? Json(false)
                                                             : Json("never");
  }
  if (decode.min_length > 0) settings["min_length"] = decode.min_length + 1;
  if (decode.no_repeat_ngram > 0) settings["no_repeat_ngram_size"] = decode.no_repeat_ngram;
  if (decode.renormalize) settings["renormalize_logits"] = true;
  if (target.forbidden() >= 0) settings["bad_words_ids"] = {{target.forbidden()}};
  return settings;
}

/// The special tokens, which stand in both files of settings.
void set_tokens(Json& config, Json& generation, const Json& tokens) {
  config.update(tokens);
  generation.update(tokens);
}

/// Those of an encoder-decoder.
void set_tokens(Json& config, Json& generation, const Task& task, Token pad) {
  const Tokenizer& target = *task.tokenizers().target;
  Json tokens = {
      {"decoder_start_token_id", target.begin()}, {"eos_token_id", target.end()}, {"pad_token_id", pad}};
  if (task.recipe().decode.forced_end) tokens["forced_eos_token_id"] = target.end();
  set_tokens(config, generation, tokens);
}

HuggingFaceModel folder_of(const Json& config, const Json& generation, FolderFiles tokenizer,
                           NamedTensors tensors) {
  FolderFiles files = {{"config.json", config.dump(2) + "\n"}};
  if (!generation.empty()) files.push_back({"generation_config.json", generation.dump(2) + "\n"});
  files.insert(files.end(), tokenizer.begin(), tokenizer.end());
  return {std::move(files), std::move(tensors)};
}

HuggingFaceModel marian_model_of(Task& task) {
  OurModel ours(task);
  const ModelOptions& model = ours.options;
  const bool shared = ours.has("embedding.weight");
  const int64_t source_size = ours.get(shared ? "embedding.weight" : "source_embedding.weight").size(0);
  const int64_t target_size = ours.get(shared ? "embedding.weight" : "target_embedding.weight").size(0);
  if (!ours.has("output.bias")) ours.set("output.bias", at::zeros({target_size}));
  TensorRules rules = marian_rules(model, shared);
  if (shared && !model.tied) {  // to transformers, one table is then tied to nothing
    for (const char* side : {"encoder", "decoder"})
      rules.push_back({"embedding.weight", fmt::format("model.{}.embed_tokens.weight", side)});
  }
  auto tokenizer = marian_tokenizer_files(task.tokenizers(), shared, model.max_length);
  Json config = config_of("marian", "MarianMTModel"), generation = generation_of(task);
  config.update({{"is_encoder_decoder", true},
                 {"vocab_size", source_size},
                 {"decoder_vocab_size", target_size},
                 {"share_encoder_decoder_embeddings", shared},
                 {"tie_word_embeddings", model.tied},
                 {"d_model", model.width},
                 {"encoder_layers", model.encoder_layers},
                 {"decoder_layers", model.decoder_layers},
                 {"encoder_attention_heads", model.heads},
                 {"decoder_attention_heads", model.heads},
                 {"encoder_ffn_dim", model.feed_forward},
                 {"decoder_ffn_dim", model.feed_forward},
                 {"activation_function", activation_name(model.activation)},
                 {"max_position_embeddings", model.max_length},
                 {"scale_embedding", model.embedding_scale},
                 {"dropout", model.dropout},
                 {"attention_dropout", model.attention_dropout},
                 {"activation_dropout", model.activation_dropout}});
  set_tokens(config, generation, task, tokenizer.pad);
  return folder_of(config, generation, std::move(tokenizer.files), foreign_tensors(ours.tensors, rules));
}

HuggingFaceModel t5_model_of(Task& task) {
  OurModel ours(task);
  const ModelOptions& model = ours.options;
  TensorRules rules = t5_rules(model, model.heads);
  // Theirs does not multiply embeddings, and divides the output by √width where it is tied.
  const bool tied = model.tied && model.embedding_scale;
  if (tied) {
    rules.push_back(
        {"embedding.weight", "shared.weight", times(1 / std::sqrt(static_cast<double>(model.width)))});
  } else {
    ours.untie();
    ours.scale_embedding();
    rules.push_back({"embedding.weight", "shared.weight"});
    rules.push_back({"output.weight", "lm_head.weight"});
  }
  const Tokenizer& tokenizer = *task.tokenizers().target;
  Json config = config_of("t5", "T5ForConditionalGeneration"), generation = generation_of(task);
  config.update({{"is_encoder_decoder", true},
                 {"vocab_size", ours.get("embedding.weight").size(0)},
                 {"tie_word_embeddings", tied},
                 {"d_model", model.width},
                 {"d_kv", model.width / model.heads},
                 {"num_heads", model.heads},
                 {"num_layers", model.encoder_layers},
                 {"num_decoder_layers", model.decoder_layers},
                 {"d_ff", model.feed_forward},
                 {"feed_forward_proj", activation_name(model.activation)},
                 {"n_positions", model.max_length},
                 {"relative_attention_num_buckets", kRelativeBuckets},
                 {"relative_attention_max_distance", 128},
                 {"layer_norm_epsilon", model.norm_epsilon},
                 {"dropout_rate", model.dropout}});
  set_tokens(config, generation, task, tokenizer.begin());
  return folder_of(config, generation, t5_tokenizer_files(tokenizer, model.max_length),
                   foreign_tensors(ours.tensors, rules));
}

HuggingFaceModel gpt2_model_of(Task& task) {
  OurModel ours(task);
  const ModelOptions& model = ours.options;
  if (model.embedding_scale) ours.untie();
  ours.scale_embedding();
  ours.store_positions("decoder");
  const Tokenizer& tokenizer = *task.tokenizers().target;
  Json config = config_of("gpt2", "GPT2LMHeadModel"), generation;
  config.update({{"vocab_size", ours.get("embedding.weight").size(0)},
                 {"tie_word_embeddings", model.tied},
                 {"n_embd", model.width},
                 {"n_head", model.heads},
                 {"n_layer", model.decoder_layers},
                 {"n_inner", model.feed_forward},
                 {"n_positions", model.max_length},
                 {"activation_function", activation_name(model.activation)},
                 {"layer_norm_epsilon", model.norm_epsilon},
                 {"resid_pdrop", model.dropout},
                 {"embd_pdrop", model.dropout},
                 {"attn_pdrop", model.attention_dropout}});
  set_tokens(config, generation, {{"bos_token_id", tokenizer.end()}, {"eos_token_id", tokenizer.end()}});
  return folder_of(config, generation, gpt2_tokenizer_files(tokenizer, model.max_length),
                   foreign_tensors(ours.tensors, gpt2_rules(model, "transformer.")));
}

HuggingFaceModel bert_model_of(Task& task) {
  OurModel ours(task);
  const ModelOptions& model = ours.options;
  ours.scale_embedding();
  ours.store_positions("encoder");
  auto tensors = foreign_tensors(ours.tensors, bert_rules(model, {}, false));
  // All tokens of a text are of the first type, whose vector the positions hold.
  constexpr int64_t kTypes = 2;
  tensors.push_back({"bert.embeddings.token_type_embeddings.weight", at::zeros({kTypes, model.width})});
  const Tokenizer& tokenizer = *task.tokenizers().source;
  Json names = Json::object(), numbers = Json::object();
  const auto& labels = task.recipe().data.labels;
  for (size_t n = 0; n < labels.size(); ++n) {
    names[std::to_string(n)] = labels[n];
    numbers[labels[n]] = n;
  }
  Json config = config_of("bert", "BertForSequenceClassification");
  config.update({{"problem_type", "single_label_classification"},
                 {"id2label", names},
                 {"label2id", numbers},
                 {"vocab_size", ours.get("embedding.weight").size(0)},
                 {"type_vocab_size", kTypes},
                 {"hidden_size", model.width},
                 {"num_attention_heads", model.heads},
                 {"num_hidden_layers", model.encoder_layers},
                 {"intermediate_size", model.feed_forward},
                 {"max_position_embeddings", model.max_length},
                 {"hidden_act", activation_name(model.activation)},
                 {"layer_norm_eps", model.norm_epsilon},
                 {"hidden_dropout_prob", model.dropout},
                 {"attention_probs_dropout_prob", model.attention_dropout},
                 {"pad_token_id", std::max<Token>(0, number_of_piece(tokenizer, "[PAD]"))}});
  return folder_of(config, {}, bert_tokenizer_files(tokenizer, model.max_length), std::move(tensors));
}

}  // namespace

HuggingFaceModel huggingface_model(Task& task) {
  c10::NoGradGuard no_grad;
  switch (huggingface_layout(task)) {
    case HuggingFaceLayout::marian: return marian_model_of(task);
    case HuggingFaceLayout::t5: return t5_model_of(task);
    case HuggingFaceLayout::gpt2: return gpt2_model_of(task);
    case HuggingFaceLayout::bert: break;
  }
  return bert_model_of(task);
}

}  // namespace synthesizer
