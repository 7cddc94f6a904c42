#include "interop/family.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "interop/foreign_files.h"

namespace synthesizer {
namespace {

/// What one of the two files says of a search.
struct SearchSettings {
  DecodeOptions decode = {.beam = 1,
                          .length_penalty = 1,
                          .early_stopping = false,
                          .transformers_rules = true};  // theirs where nothing is said
  Token forbidden = -1;
  int64_t longest = 0;  ///< their maximum, which counts the start; 0: none
  bool end_is_forced = false;
};

/// Settings that change what is written and that we do not have, whatever kind of model it is.
void refuse_what_is_missing(ForeignConfig& config) {
  config.expect("repetition_penalty", 1.0);
  config.expect("diversity_penalty", 0.0);
  config.expect("num_beam_groups", 1);
  config.expect("encoder_no_repeat_ngram_size", 0);
  config.expect("typical_p", 1.0);
  for (const char* key : {"forced_bos_token_id", "suppress_tokens", "begin_suppress_tokens",
                          "exponential_decay_length_penalty", "forced_decoder_ids", "sequence_bias"}) {
    config.expect(key, nullptr);
  }
  config.without_effect({"_from_model_config", "num_return_sequences"});  // the second: --nbest
}

/// [[5]], the one token that must never be written; -1 where there is none. As in transformers the end is not
/// forbidden by it.
Token forbidden_token(ForeignConfig& config, const SpecialTokens& tokens) {
  const auto& bad = config.value("bad_words_ids");
  if (bad.is_null()) return -1;
  const bool one = bad.is_array() && bad.size() == 1 && bad[0].is_array() && bad[0].size() == 1 &&
                   bad[0][0].is_number_integer();
  if (!one) {
    config.refuse("bad_words_ids",
                  fmt::format("is {}: one token is supported, as in [[5]]", shortened(bad.dump())));
  }
  const auto& number = bad[0][0];
  if (number < 0 || number >= tokens.count) {
    config.refuse("bad_words_ids",
                  fmt::format("has the token {}: it must be from 0 to {}", number.dump(), tokens.count - 1));
  }
  return number == tokens.end ? -1 : number.get<Token>();
}

/// The settings of one file; it must agree with these tokens.
SearchSettings search_settings(ForeignConfig& config, const SpecialTokens& tokens) {
  SearchSettings read;
  DecodeOptions& decode = read.decode;
  decode.beam = config.integer("num_beams", decode.beam, beam_sizes());
  decode.length_penalty = config.real("length_penalty", decode.length_penalty);
  decode.no_repeat_ngram = config.integer("no_repeat_ngram_size", decode.no_repeat_ngram, kLengths);
  decode.renormalize = config.flag("renormalize_logits", false);
  constexpr WholeNumbers kLimits{1, kLengths.most};
  if (config.has("max_length")) read.longest = config.integer("max_length", kLimits);
  if (config.has("max_new_tokens")) read.longest = config.integer("max_new_tokens", kLimits) + 1;
  decode.min_length = std::max<int64_t>(1, config.integer("min_length", 0, kLengths)) - 1;  // with the start
  if (config.has("early_stopping")) {
    const auto& stop = config.value("early_stopping");
    const bool never = stop.is_string() && stop.get<std::string>() == "never";
    if (!stop.is_boolean() && !never) config.refuse("early_stopping", "is neither true nor false");
    decode.early_stopping = stop.is_boolean() && stop.get<bool>();
    decode.transformers_rules = !never;
  }
  read.forbidden = forbidden_token(config, tokens);
  config.expect("do_sample", false);
  config.expect("decoder_start_token_id", tokens.start);
  config.expect("eos_token_id", tokens.end);
  config.expect("forced_eos_token_id", tokens.end);
  config.expect("pad_token_id", tokens.pad);
  read.end_is_forced = config.has("forced_eos_token_id");
  refuse_what_is_missing(config);
  config.without_effect({"temperature", "top_k", "top_p", "bos_token_id"});  // of sampling; never read
  return read;
}

/// generation_config.json, or nothing where the folder has none.
std::optional<ForeignConfig> generation_config(const ModelFolder& folder) {
  const std::string path = folder.path + "/generation_config.json";
  return std::filesystem::exists(path) ? std::optional<ForeignConfig>(path) : std::nullopt;
}

}  // namespace

Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name) {
  if (name == "relu") return Activation::relu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "swish" || name == "silu") return Activation::swish;
  config.refuse(key, fmt::format("is \"{}\": relu, gelu, gelu_new and swish are supported", shortened(name)));
}

WholeNumbers beam_sizes() {
  const auto& all = decode_option_list();
  const auto beam =
      std::find_if(all.begin(), all.end(), [](const DecodeOption& one) { return one.name == "beam"; });
  return {static_cast<int64_t>(beam->least), static_cast<int64_t>(beam->most)};
}

Token read_search_settings(ModelFolder& folder, const SpecialTokens& tokens, DecodeOptions& decode) {
  SearchSettings read = search_settings(folder.config, tokens);
  read.end_is_forced = read.end_is_forced || tokens.end_is_forced;
  if (auto generation = generation_config(folder)) {
    read = search_settings(*generation, tokens);
    generation->check_all_read(folder.ignored);
  }
  decode = read.decode;
  decode.forced_end = read.end_is_forced;
  if (read.longest > 0) decode.max_length = std::max<int64_t>(1, read.longest - (decode.forced_end ? 2 : 1));
  return read.forbidden;
}

void check_sampling_settings(ModelFolder& folder, int64_t end) {
  auto check_file = [&](ForeignConfig& config) {
    config.expect("num_beams", 1);
    config.expect("no_repeat_ngram_size", 0);
    config.expect("min_length", 0);
    config.expect("bad_words_ids", nullptr);
    config.expect("eos_token_id", end);
    config.expect("bos_token_id", end);
    config.expect("forced_eos_token_id", nullptr);
    refuse_what_is_missing(config);
    config.without_effect({"do_sample", "temperature", "top_k", "top_p", "max_length", "max_new_tokens",
                           "length_penalty", "early_stopping", "renormalize_logits", "pad_token_id"});
  };
  check_file(folder.config);
  if (auto generation = generation_config(folder)) {
    check_file(*generation);
    generation->check_all_read(folder.ignored);
  }
}

bool is_tied(ForeignWeights& weights, const std::string& name, const std::string& to) {
  if (!weights.has(name)) return true;
  return at::equal(weights.take(name), weights.take(to));
}

void check_heads(const ForeignConfig& config, const ModelOptions& model) {
  if (model.width % model.heads != 0)
    invalid(fmt::format("{}: the width {} is not a multiple of the {} heads", config.path(), model.width,
                        model.heads));
}

}  // namespace synthesizer
