// Marian's own files: a folder with decoder.yml (the OPUS-MT archives) or model.npz.decoder.yml (Marian
// itself), which names the model (.npz) and the vocabularies (.yml), and source.spm and target.spm. The model
// is that of MarianMT; names, layouts and settings are Marian's.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/number_text.h"
#include "interop/family.h"
#include "interop/foreign_files.h"
#include "interop/simple_yaml.h"
#include "interop/tokenizer_files.h"
#include "model/positions.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// Settings of the model, which the .npz holds as text, or of the search (decoder.yml). Each is marked as it
/// is read, so that none is ignored by accident.
class MarianSettings {
 public:
  MarianSettings(std::string file, const std::string& text)
      : file_(std::move(file)), all_(parse_yaml(text, file_)) {}

  std::vector<std::string> list(const std::string& key) {
    read_.insert(key);
    const auto found = all_.find(key);
    return found == all_.end() ? std::vector<std::string>() : found->second;
  }
  std::string text(const std::string& key, const std::string& fallback) {
    const auto values = list(key);
    return values.empty() ? fallback : values.front();
  }
  int64_t integer(const std::string& key, const std::string& fallback, WholeNumbers range) {
    int64_t number = 0;
    const std::string value = text(key, fallback);
    if (parse_number(value, number) && number >= range.least && number <= range.most) return number;
    refuse(key, value, fmt::format("it must be a whole number from {} to {}", range.least, range.most));
  }
  int64_t size(const std::string& key) { return integer(key, "", kSizes); }
  double real(const std::string& key, const std::string& fallback) {
    double number = 0;
    const std::string value = text(key, fallback);
    if (parse_number(value, number) && std::isfinite(number)) return number;
    refuse(key, value, "it must be a number");
  }
  void expect(const std::string& key, const std::string& only) {
    const std::string value = text(key, only);
    if (value != only) refuse(key, value, fmt::format("only '{}' is supported", only));
  }
  /// Throws InvalidInput where another setting is there; `known`: those without effect.
  void check_all_read(std::span<const char* const> known, IgnoredSettings& ignored) const {
    for (const auto& [key, values] : all_) {
      if (read_.contains(key) || std::find(known.begin(), known.end(), key) != known.end()) continue;
      if (ignored.contains(key)) continue;
      invalid(fmt::format(
          "{}: its setting '{}' is '{}', an unknown setting: if it does not change what the model computes, "
          "give --ignore {}",
          file_, shortened(key), shortened(fmt::format("{}", fmt::join(values, ", "))), shortened(key)));
    }
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& value, const std::string& why) const {
    invalid(fmt::format("{}: its setting '{}' is '{}': {}", file_, key, shortened(value), why));
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

/// Settings of decoder.yml that say where files are and how the work is divided; and three whose effect is
/// not ours (docs/importing.md): max-length-factor, allow-unk and n-best.
constexpr const char* kSearchWithoutEffect[] = {
    "models",
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

ModelOptions npz_model(MarianSettings& settings) {
  ModelOptions model;
  model.attention = {"V"};
  model.attention_options.set("query_bias", true);
  model.width = settings.size("dim-emb");
  model.heads = settings.size("transformer-heads");
  model.encoder_layers = settings.size("enc-depth");
  model.decoder_layers = settings.size("dec-depth");
  model.layers = model.encoder_layers;
  model.feed_forward = settings.size("transformer-dim-ffn");
  model.max_length = 512;  // positions are a formula: what the other tools take
  model.norm_place = NormPlace::post;
  model.positions = PositionKind::split_sinusoidal;
  model.output_bias = true;
  const std::string activation = settings.text("transformer-ffn-activation", "swish");
  if (activation != "swish" && activation != "relu" && activation != "gelu")
    settings.refuse("transformer-ffn-activation", activation, "swish, relu and gelu are supported");
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

/// The search of decoder.yml. Marian's own defaults hold where it says nothing.
DecodeOptions npz_search(MarianSettings& settings) {
  for (const char* key : {"allow-special", "output-sampling", "force-decode"}) settings.expect(key, "false");
  settings.expect("shortlist", "");
  settings.expect("weights", "1");
  if (const double penalty = settings.real("word-penalty", "0"); penalty != 0)
    settings.refuse("word-penalty", settings.text("word-penalty", ""), "only 0 is supported");
  return {.beam = settings.integer("beam-size", "12", beam_sizes()),
          .length_penalty = settings.real("normalize", "0"),
          .early_stopping = false};
}

/// A file that the settings name. Marian writes the paths of the machine that trained, unless relative-paths
/// is set: the files are then beside the settings.
std::string named_file(const std::string& name) {
  const fs::path path(name);
  return path.is_absolute() ? path.filename().string() : name;
}

}  // namespace

std::string marian_decoder_file(const std::string& folder) {
  if (std::string usual = folder + "/decoder.yml"; fs::exists(usual)) return usual;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (const std::string path = entry.path().string(); path.ends_with(".npz.decoder.yml"))
      files.push_back(path);
  }
  if (files.size() > 1)
    invalid(
        fmt::format("{} has several files .npz.decoder.yml: copy the one to be used to decoder.yml", folder));
  return files.empty() ? "" : files.front();
}

std::string marian_model_file(const std::string& decoder) {
  const auto models = MarianSettings(decoder, read_file(decoder)).list("models");
  if (models.size() != 1)
    invalid(fmt::format("{} names {} models: one is supported", decoder, models.size()));
  return fs::path(decoder).parent_path() / named_file(models.front());
}

ModelPlan plan_marian_npz(const std::string& decoder, ForeignWeights& weights, IgnoredSettings& ignored) {
  MarianSettings settings(weights.file(), weights.take_bytes("special:model.yml"));
  MarianSettings search(decoder, read_file(decoder));
  const auto vocabularies = search.list("vocabs");
  if (vocabularies.size() != 2 || vocabularies[0] != vocabularies[1])
    invalid(fmt::format("{}: one vocabulary for both languages is supported", decoder));
  ModelPlan plan;
  plan.recipe.task = "translation";
  ModelOptions& model = plan.recipe.model = npz_model(settings);
  settings.check_all_read(kModelWithoutEffect, ignored);
  plan.recipe.decode = npz_search(search);
  search.check_all_read(kSearchWithoutEffect, ignored);

  // Marian's decoder begins with a vector of zeros: the embedding of a token more, which is never written.
  const auto table = weights.shape("Wemb");
  const int64_t size = table.empty() ? 0 : std::min(table[0], kVocabularies.most - 1);
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
                    .vocabulary = named_file(vocabularies[0]),
                    .size = size + 1,
                    .begin = begin,
                    .end = 0,
                    .forbidden = begin,
                    .language_codes = true};
  const std::string folder = fs::path(decoder).parent_path();
  const auto source = marian_tokenizer(folder, files);
  files.model = "target.spm";
  files.language_codes = false;
  plan.tokenizers = {source, marian_tokenizer(folder, files)};
  return plan;
}

}  // namespace synthesizer
