// Marian's own files: a folder with decoder.yml, which names the model (.npz) and the vocabularies (.yml),
// and source.spm and target.spm, as the OPUS-MT archives have them. The model is that of MarianMT; names,
// layouts and settings are Marian's.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/family.h"
#include "interop/simple_yaml.h"
#include "interop/tokenizer_files.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

/// Settings of the model, which the .npz holds as text.
class MarianSettings {
 public:
  MarianSettings(std::string file, const std::string& text)
      : file_(std::move(file)), all_(parse_yaml(text, file_)) {}

  std::string text(const std::string& key, const std::string& fallback) const {
    const auto found = all_.find(key);
    return found == all_.end() || found->second.empty() ? fallback : found->second.front();
  }
  int64_t integer(const std::string& key) const {
    const std::string value = text(key, "");
    try {
      return std::stoll(value);
    } catch (const std::exception&) {
      invalid(fmt::format("{}: its setting '{}' is '{}': it must be a whole number", file_, key, value));
    }
  }
  void expect(const std::string& key, const std::string& only) const {
    const std::string value = text(key, only);
    if (value != only)
      invalid(fmt::format("{}: its setting '{}' is '{}': only '{}' is supported", file_, key, value, only));
  }

 private:
  std::string file_;
  SimpleYaml all_;
};

ModelOptions npz_model(const MarianSettings& settings, const std::string& file) {
  ModelOptions model;
  model.attention = {"V"};
  model.attention_options.set("query_bias", true);
  model.width = settings.integer("dim-emb");
  model.heads = settings.integer("transformer-heads");
  model.encoder_layers = settings.integer("enc-depth");
  model.decoder_layers = settings.integer("dec-depth");
  model.layers = model.encoder_layers;
  model.feed_forward = settings.integer("transformer-dim-ffn");
  model.max_length = 512;  // positions are a formula: what the other tools take
  model.norm_place = NormPlace::post;
  model.positions = PositionKind::split_sinusoidal;
  model.output_bias = true;
  const std::string activation = settings.text("transformer-ffn-activation", "swish");
  if (activation != "swish" && activation != "relu" && activation != "gelu")
    invalid(fmt::format(
        "{}: its setting 'transformer-ffn-activation' is '{}': swish, relu and gelu are supported", file,
        activation));
  model.activation = choose<Activation>("transformer-ffn-activation", activation);
  settings.expect("type", "transformer");
  settings.expect("transformer-preprocess", "");
  settings.expect("transformer-postprocess", "dan");
  settings.expect("transformer-postprocess-emb", "d");
  settings.expect("transformer-postprocess-top", "");
  settings.expect("transformer-decoder-autoreg", "self-attention");
  settings.expect("transformer-train-position-embeddings", "false");
  settings.expect("transformer-no-projection", "false");
  settings.expect("transformer-ffn-depth", "2");
  settings.expect("transformer-tied-layers", "");
  settings.expect("tied-embeddings-all", "true");
  settings.expect("ulr", "false");
  settings.expect("lemma-dim-emb", "0");
  return model;
}

TensorRules npz_layer(const std::string& side, int64_t number) {
  const std::string ours = fmt::format("{}.layers.{}.", side, number);
  const std::string theirs = fmt::format("{}_l{}_", side, number + 1);
  TensorRules rules;
  const TensorChange flat = [](const at::Tensor& row) { return row.flatten(); };
  auto linear = [&](const std::string& to, const std::string& matrix, const std::string& bias) {
    rules.push_back({ours + to + ".weight", theirs + matrix, transposed()});
    if (!bias.empty()) rules.push_back({ours + to + ".bias", theirs + bias, flat});
  };
  auto norm = [&](const std::string& to, const std::string& from) {
    rules.push_back({ours + to + ".weight", theirs + from + "_ln_scale", flat});
    rules.push_back({ours + to + ".bias", theirs + from + "_ln_bias", flat});
  };
  linear("attention.logits.V.query", "self_Wq", "self_bq");
  linear("attention.logits.V.key", "self_Wk", "");
  linear("attention.value", "self_Wv", "self_bv");
  linear("attention.output", "self_Wo", "self_bo");
  norm("attention_norm", "self_Wo");
  linear("feed_forward.in", "ffn_W1", "ffn_b1");
  linear("feed_forward.out", "ffn_W2", "ffn_b2");
  norm("feed_forward_norm", "ffn_ffn");
  if (side == "decoder") {
    linear("cross.query", "context_Wq", "context_bq");
    linear("cross.key", "context_Wk", "context_bk");
    linear("cross.value", "context_Wv", "context_bv");
    linear("cross.output", "context_Wo", "context_bo");
    norm("cross_norm", "context_Wo");
  }
  return rules;
}

}  // namespace

std::string marian_model_file(const std::string& folder) {
  const std::string file = folder + "/decoder.yml";
  const auto models = parse_yaml(read_file(file), file)["models"];
  if (models.size() != 1) invalid(fmt::format("{} names {} models: one is supported", file, models.size()));
  return folder + "/" + models.front();
}

ModelPlan plan_marian_npz(const std::string& folder, ForeignWeights& weights) {
  const MarianSettings settings(weights.file(), weights.take_bytes("special:model.yml"));
  const std::string file = folder + "/decoder.yml";
  SimpleYaml decoder = parse_yaml(read_file(file), file);
  const auto vocabularies = decoder["vocabs"];
  if (vocabularies.size() != 2 || vocabularies[0] != vocabularies[1])
    invalid(fmt::format("{}: one vocabulary for both languages is supported", file));
  ModelPlan plan;
  plan.recipe.task = "translation";
  ModelOptions& model = plan.recipe.model = npz_model(settings, weights.file());
  const MarianSettings search(file, read_file(file));
  plan.recipe.decode = {.beam = search.text("beam-size", "").empty() ? 12 : search.integer("beam-size"),
                        .length_penalty = std::strtod(search.text("normalize", "0").c_str(), nullptr),
                        .early_stopping = false};

  if (std::strtod(search.text("word-penalty", "0").c_str(), nullptr) != 0)
    invalid(fmt::format("{}: 'word-penalty' is not 0, which alone is supported", file));

  // Marian's decoder begins with a vector of zeros: the embedding of a token more, which is never written.
  const int64_t size = weights.take("Wemb").size(0);
  const TensorChange one_more = padded(0, size + 1);
  TensorRules& rules = plan.rules;
  rules.push_back({"embedding.weight", "Wemb", one_more});
  rules.push_back({"output.bias", "decoder_ff_logit_out_b",
                   [one_more](const at::Tensor& bias) { return one_more(bias.flatten()); }});
  for (int64_t n = 0; n < model.encoder_layers; ++n) add_layers(rules, 1, npz_layer("encoder", n));
  for (int64_t n = 0; n < model.decoder_layers; ++n) add_layers(rules, 1, npz_layer("decoder", n));
  for (int64_t n = 1; n <= std::max(model.encoder_layers, model.decoder_layers); ++n) {
    for (const char* side : {"encoder", "decoder"}) weights.skip(fmt::format("{}_l{}_self_bk", side, n));
  }
  const auto begin = static_cast<Token>(size);
  MarianFiles files{.model = "source.spm",
                    .vocabulary = vocabularies[0].c_str(),
                    .size = size + 1,
                    .begin = begin,
                    .end = 0,
                    .forbidden = begin,
                    .language_codes = true};
  const auto source = marian_tokenizer(folder, files);
  files.model = "target.spm";
  files.language_codes = false;
  plan.tokenizers = {source, marian_tokenizer(folder, files)};
  return plan;
}

}  // namespace synthesizer
