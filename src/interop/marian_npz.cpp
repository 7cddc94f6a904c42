// Marian's own files: a folder with decoder.yml, which names the model (.npz) and the vocabularies (.yml),
// and source.spm and target.spm, as the OPUS-MT archives have them. The model is that of MarianMT; names,
// layouts and settings are Marian's.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "interop/family.h"
#include "interop/simple_yaml.h"
#include "interop/tokenizer_files.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

/// Settings of the model, which the .npz holds as text, or of the search (decoder.yml). Each is marked as it
/// is read, so that none is ignored by accident.
class MarianSettings {
 public:
  MarianSettings(std::string file, const std::string& text)
      : file_(std::move(file)), all_(parse_yaml(text, file_)) {}

  std::string text(const std::string& key, const std::string& fallback) {
    read_.insert(key);
    const auto found = all_.find(key);
    return found == all_.end() || found->second.empty() ? fallback : found->second.front();
  }
  int64_t integer(const std::string& key) {
    const std::string value = text(key, "");
    try {
      return std::stoll(value);
    } catch (const std::logic_error&) {
      invalid(fmt::format("{}: its setting '{}' is '{}': it must be a whole number", file_, key, value));
    }
  }
  void expect(const std::string& key, const std::string& only) {
    const std::string value = text(key, only);
    if (value != only)
      invalid(fmt::format("{}: its setting '{}' is '{}': only '{}' is supported", file_, key, value, only));
  }
  /// Throws InvalidInput where another setting is there; `known`: those without effect.
  void check_all_read(std::span<const char* const> known, const std::vector<std::string>& ignored) const {
    for (const auto& [key, values] : all_) {
      const auto is_key = [&name = key](const auto& other) { return name == other; };
      if (read_.contains(key) || std::any_of(known.begin(), known.end(), is_key)) continue;
      if (std::any_of(ignored.begin(), ignored.end(), is_key)) continue;
      invalid(
          fmt::format("{}: its setting '{}' is '{}', and its meaning is unknown here: where it does not "
                      "change what the model computes, give --ignore {}",
                      file_, key, fmt::join(values, ", "), key));
    }
  }

 private:
  std::string file_;
  SimpleYaml all_;
  std::set<std::string> read_;
};

/// Settings of other kinds of models, of training, or of parts that are not used in translation.
constexpr const char* kModelWithoutEffect[] = {
    "bert-class-symbol",
    "bert-mask-symbol",
    "bert-masking-fraction",
    "bert-sep-symbol",
    "bert-train-type-embeddings",
    "bert-type-vocab-size",
    "best-deep",
    "char-conv-filters-num",
    "char-conv-filters-widths",
    "char-highway",
    "char-stride",
    "dec-cell",
    "dec-cell-base-depth",
    "dec-cell-high-depth",
    "dim-rnn",
    "dim-vocabs",  // the embedding says it
    "enc-cell",
    "enc-cell-depth",
    "enc-type",
    "factors-combine",
    "factors-dim-emb",
    "layer-normalization",  // of recurrent layers
    "lemma-dependency",
    "max-length",
    "skip",
    "tied-embeddings",  // tied-embeddings-all is true
    "tied-embeddings-src",
    "transformer-aan-activation",
    "transformer-aan-depth",
    "transformer-aan-nogate",
    "transformer-dim-aan",
    "transformer-guided-alignment-layer",
    "transformer-rnn-projection",
    "transformer-depth-scaling",  // of the first values
    "ulr-dim-emb",
    "ulr-trainable-transformation",
    "version",
};

/// Settings of decoder.yml that say where files are and how the work is divided; and two whose effect is not
/// ours (docs/importing.md): max-length-factor and allow-unk.
constexpr const char* kSearchWithoutEffect[] = {
    "models",
    "vocabs",
    "relative-paths",
    "mini-batch",
    "mini-batch-words",
    "maxi-batch",
    "maxi-batch-sort",
    "workspace",
    "cpu-threads",
    "devices",
    "num-devices",
    "quiet",
    "quiet-translation",
    "log",
    "log-level",
    "max-length",
    "max-length-crop",
    "max-length-factor",
    "skip-cost",
    "alignment",
    "n-best",
    "n-best-feature",
    "seed",
    "allow-unk",
    "version",
    "input",
    "output",
    "port",
    "optimize",
    "precision",
};

ModelOptions npz_model(MarianSettings& settings, const std::string& file) {
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
  settings.expect("transformer-pool", "false");
  settings.expect("right-left", "false");
  settings.expect("input-types", "");
  settings.expect("output-omit-bias", "false");
  settings.expect("ulr", "false");
  settings.expect("lemma-dim-emb", "0");
  // 0: as the encoder's
  for (const auto& [key, own] : {std::pair("transformer-decoder-dim-ffn", std::to_string(model.feed_forward)),
                                 {"transformer-decoder-ffn-depth", "2"}}) {
    if (settings.text(key, "0") != "0") settings.expect(key, own);
  }
  return model;
}

TensorRules npz_layer(const std::string& side, int64_t number) {
  const std::string ours = fmt::format("{}.layers.{}.", side, number);
  const std::string theirs = fmt::format("{}_l{}_", side, number + 1);
  TensorRules rules;
  auto linear = [&](const std::string& to, const std::string& matrix, const std::string& bias) {
    rules.push_back({ours + to + ".weight", theirs + matrix, transposed()});
    if (!bias.empty()) rules.push_back({ours + to + ".bias", theirs + bias, one_row()});
  };
  auto norm = [&](const std::string& to, const std::string& from) {
    rules.push_back({ours + to + ".weight", theirs + from + "_ln_scale", one_row()});
    rules.push_back({ours + to + ".bias", theirs + from + "_ln_bias", one_row()});
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

ModelPlan plan_marian_npz(const std::string& folder, ForeignWeights& weights,
                          const std::vector<std::string>& ignored) {
  MarianSettings settings(weights.file(), weights.take_bytes("special:model.yml"));
  const std::string file = folder + "/decoder.yml";
  SimpleYaml decoder = parse_yaml(read_file(file), file);
  const auto vocabularies = decoder["vocabs"];
  if (vocabularies.size() != 2 || vocabularies[0] != vocabularies[1])
    invalid(fmt::format("{}: one vocabulary for both languages is supported", file));
  ModelPlan plan;
  plan.recipe.task = "translation";
  ModelOptions& model = plan.recipe.model = npz_model(settings, weights.file());
  settings.check_all_read(kModelWithoutEffect, ignored);
  MarianSettings search(file, read_file(file));
  plan.recipe.decode = {.beam = search.text("beam-size", "").empty() ? 12 : search.integer("beam-size"),
                        .length_penalty = std::strtod(search.text("normalize", "0").c_str(), nullptr),
                        .early_stopping = false};

  if (std::strtod(search.text("word-penalty", "0").c_str(), nullptr) != 0)
    invalid(fmt::format("{}: 'word-penalty' is not 0, which alone is supported", file));
  for (const char* key : {"allow-special", "output-sampling", "force-decode"}) search.expect(key, "false");
  search.expect("shortlist", "");
  search.expect("weights", "1");
  search.check_all_read(kSearchWithoutEffect, ignored);

  // Marian's decoder begins with a vector of zeros: the embedding of a token more, which is never written.
  const int64_t size = weights.shape("Wemb").empty() ? 0 : weights.shape("Wemb")[0];
  check_shape(weights, "Wemb", {size, model.width});
  check_layers(weights, "encoder_l{}_ffn_W1", model.encoder_layers, {model.width, model.feed_forward}, 1);
  check_layers(weights, "decoder_l{}_ffn_W1", model.decoder_layers, {model.width, model.feed_forward}, 1);
  const TensorChange one_more = padded(0, size, size + 1);
  TensorRules& rules = plan.rules;
  rules.push_back({"embedding.weight", "Wemb", one_more});
  rules.push_back({"output.bias", "decoder_ff_logit_out_b", then(one_row(), one_more)});
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
