#include "interop/family.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace synthesizer {
namespace {

/// Settings of decoding that ours has, from one of the two files.
void read_search_settings(ForeignConfig& config, DecodeOptions& decode, int64_t& forbidden) {
  decode.beam = config.integer("num_beams", decode.beam);
  decode.length_penalty = config.real("length_penalty", decode.length_penalty);
  decode.no_repeat_ngram = config.integer("no_repeat_ngram_size", decode.no_repeat_ngram);
  // Theirs counts the start and the end of the output.
  if (config.has("max_length")) decode.max_length = std::max<int64_t>(1, config.integer("max_length", 0) - 2);
  if (config.has("min_length")) decode.min_length = std::max<int64_t>(0, config.integer("min_length", 0) - 2);
  if (config.has("early_stopping")) {
    const auto& stop = config.value("early_stopping");
    const bool never = stop.is_string() && stop.get<std::string>() == "never";
    if (!stop.is_boolean() && !never) config.refuse("early_stopping", "is neither true nor false");
    decode.early_stopping = stop.is_boolean() && stop.get<bool>();
  }
  if (const auto& bad = config.value("bad_words_ids"); !bad.is_null()) {
    const bool one = bad.is_array() && bad.size() == 1 && bad[0].is_array() && bad[0].size() == 1 &&
                     bad[0][0].is_number_integer();
    if (!one) config.refuse("bad_words_ids", "has more than one token: one is supported");
    forbidden = bad[0][0].get<int64_t>();
  }
  config.expect("repetition_penalty", 1.0);
  config.expect("diversity_penalty", 0.0);
  config.expect("num_beam_groups", 1);
  config.expect("encoder_no_repeat_ngram_size", 0);
  config.expect("typical_p", 1.0);
  for (const char* key : {"forced_bos_token_id", "suppress_tokens", "begin_suppress_tokens",
                          "exponential_decay_length_penalty", "forced_decoder_ids", "sequence_bias"}) {
    config.expect(key, nullptr);
  }
  // Given with every call here.
  config.without_effect({"do_sample", "temperature", "top_k", "top_p", "num_return_sequences",
                         "max_new_tokens", "renormalize_logits", "renormalize", "_from_model_config"});
}

}  // namespace

Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name) {
  if (name == "relu") return Activation::relu;
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "swish" || name == "silu") return Activation::swish;
  config.refuse(key, fmt::format("is \"{}\": relu, gelu, gelu_new and swish are supported", name));
}

int64_t read_generation_settings(ModelFolder& folder, DecodeOptions& decode) {
  int64_t forbidden = -1;
  decode = {.beam = 1, .length_penalty = 1, .early_stopping = false};  // theirs where nothing is said
  read_search_settings(folder.config, decode, forbidden);
  const std::string path = folder.path + "/generation_config.json";
  if (std::filesystem::exists(path)) {
    ForeignConfig generation(path);
    read_search_settings(generation, decode, forbidden);
    generation.without_effect(
        {"bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_eos_token_id"});
    generation.check_all_read({});
  }
  return forbidden;
}

bool is_tied(ForeignWeights& weights, const std::string& name, const std::string& to) {
  if (!weights.has(name)) return true;
  return at::equal(weights.take(name), weights.take(to));
}

std::string needed_file(const std::string& folder, const std::string& name, const std::string& what) {
  std::string path = folder + "/" + name;
  if (!std::filesystem::is_regular_file(path))
    invalid(fmt::format("{} has no {}, {}: copy it there", folder, name, what));
  return path;
}

void check_sizes(const ForeignConfig& config, const ModelOptions& model) {
  const std::pair<const char*, int64_t> sizes[] = {{"width", model.width},
                                                   {"heads", model.heads},
                                                   {"layers", model.encoder_layers},
                                                   {"layers", model.decoder_layers},
                                                   {"inner width", model.feed_forward},
                                                   {"positions", model.max_length}};
  constexpr int64_t kLargest = 1 << 20;
  for (const auto& [name, size] : sizes) {
    if (size < 1 || size > kLargest) invalid(fmt::format("{}: {} {} cannot be", config.path(), name, size));
  }
  if (model.width % model.heads != 0)
    invalid(fmt::format("{}: the width {} is not a multiple of the {} heads", config.path(), model.width,
                        model.heads));
}

}  // namespace synthesizer
