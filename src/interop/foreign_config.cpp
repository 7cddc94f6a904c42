#include "interop/foreign_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"

namespace synthesizer {
namespace {

/// Settings of transformers that say how the model was made, stored or run there, and not what it computes.
constexpr const char* kAboutTheFile[] = {
    "_name_or_path",
    "_commit_hash",
    "_num_labels",
    "architectures",
    "attn_implementation",
    "auto_map",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "dtype",
    "finetuning_task",
    "initializer_range",
    "init_std",
    "initializer_factor",
    "label2id",
    "model_type",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "problem_type",
    "return_dict",
    "return_dict_in_generate",
    "task_specific_params",
    "tf_legacy_loss",
    "tokenizer_class",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_bfloat16",
    "use_cache",
    "remove_invalid_values",
    "prefix",
    "gradient_checkpointing",
};

}  // namespace

ForeignConfig::ForeignConfig(const std::string& path) : path_(path) {
  auto parsed = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) invalid(fmt::format("{} is damaged: it is not a JSON object", path));
  settings_ = std::make_shared<const nlohmann::json>(std::move(parsed));
}

void ForeignConfig::refuse(const std::string& key, const std::string& what) const {
  invalid(fmt::format("{}: '{}' {}", path_, key, what));
}

bool ForeignConfig::has(const std::string& key) const {
  return settings_->contains(key) && !settings_->at(key).is_null();
}

const nlohmann::json& ForeignConfig::value(const std::string& key) {
  static const nlohmann::json missing;
  read_.insert(key);
  return settings_->contains(key) ? settings_->at(key) : missing;
}

int64_t ForeignConfig::integer(const std::string& key) {
  if (!has(key)) refuse(key, "is missing: it is not a complete model");
  return integer(key, 0);
}

int64_t ForeignConfig::integer(const std::string& key, int64_t fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_number_integer()) refuse(key, fmt::format("is {}: it must be a whole number", found.dump()));
  return found.get<int64_t>();
}

double ForeignConfig::real(const std::string& key, double fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_number()) refuse(key, fmt::format("is {}: it must be a number", found.dump()));
  return found.get<double>();
}

bool ForeignConfig::flag(const std::string& key, bool fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_boolean()) refuse(key, fmt::format("is {}: it must be true or false", found.dump()));
  return found.get<bool>();
}

std::string ForeignConfig::text(const std::string& key, const std::string& fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_string()) refuse(key, fmt::format("is {}: it must be a text", found.dump()));
  return found.get<std::string>();
}

void ForeignConfig::expect(const std::string& key, const nlohmann::json& only) {
  const auto& found = value(key);
  if (found.is_null() || found == only) return;
  refuse(key, fmt::format("is {}: only {} is supported", found.dump(), only.dump()));
}

void ForeignConfig::without_effect(std::initializer_list<const char*> keys) {
  read_.insert(keys.begin(), keys.end());
}

void ForeignConfig::check_all_read(const std::vector<std::string>& ignored) const {
  for (const auto& item : settings_->items()) {
    const std::string& key = item.key();
    const auto& set = item.value();
    const auto is_key = [&](const auto& other) { return other == key; };
    if (set.is_null() || read_.contains(key)) continue;
    if (std::any_of(std::begin(kAboutTheFile), std::end(kAboutTheFile), is_key)) continue;
    if (std::any_of(ignored.begin(), ignored.end(), is_key)) continue;
    refuse(key, fmt::format("is {}, and its meaning is unknown here: where it does not change what the model "
                            "computes, give --ignore {}",
                            set.dump(), key));
  }
}

}  // namespace synthesizer
