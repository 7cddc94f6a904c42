#include "interop/foreign_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "interop/foreign_files.h"

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
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "use_bfloat16",
    "use_cache",
    "remove_invalid_values",
    "prefix",
    "gradient_checkpointing",
};

/// A value as a message shows it.
std::string shown(const nlohmann::json& value) {
  return shortened(value.dump());
}

}  // namespace

void IgnoredSettings::check_all_found() const {
  for (const std::string& key : keys_) {
    if (found_.contains(key)) continue;
    invalid(fmt::format("--ignore {}: the model has no unknown setting of that name", shortened(key)));
  }
}

ForeignConfig::ForeignConfig(std::string path, std::shared_ptr<const nlohmann::json> settings)
    : path_(std::move(path)), settings_(std::move(settings)) {}

ForeignConfig::ForeignConfig(const std::string& path)
    : ForeignConfig(path, std::make_shared<const nlohmann::json>(read_json_object(path))) {}

ForeignConfig ForeignConfig::optional(const std::string& path) {
  if (std::filesystem::exists(path)) return ForeignConfig(path);
  return {path, std::make_shared<const nlohmann::json>(nlohmann::json::object())};
}

ForeignConfig ForeignConfig::part_of(const std::string& name, const nlohmann::json& settings) const {
  static const auto nothing = nlohmann::json::object();
  if (!settings.is_object() && !settings.is_null()) refuse(name, "is not an object");
  return {fmt::format("{}: {}", path_, name), {settings_, settings.is_null() ? &nothing : &settings}};
}

ForeignConfig ForeignConfig::part(const std::string& key) {
  return part_of(key, value(key));
}

void ForeignConfig::for_each_part(const std::string& key, const std::function<void(ForeignConfig&)>& use) {
  const auto& list = value(key);
  if (!list.is_array() && !list.is_null()) refuse(key, "is not a list");
  for (const auto& one : list) {
    ForeignConfig part = part_of(key, one);
    use(part);
  }
}

void ForeignConfig::refuse(const std::string& key, const std::string& what) const {
  invalid(fmt::format("{}: '{}' {}", path_, shortened(key), what));
}

bool ForeignConfig::has(const std::string& key) const {
  return settings_->contains(key) && !settings_->at(key).is_null();
}

const nlohmann::json& ForeignConfig::value(const std::string& key) {
  static const nlohmann::json missing;
  read_.insert(key);
  return settings_->contains(key) ? settings_->at(key) : missing;
}

void ForeignConfig::check_there(const std::string& key) const {
  if (!has(key)) refuse(key, "is missing: the model is incomplete");
}

int64_t ForeignConfig::integer(const std::string& key, int64_t fallback, WholeNumbers range) {
  const auto& found = value(key);
  if (!found.is_null() && !found.is_number_integer())
    refuse(key, fmt::format("is {}: it must be a whole number", shown(found)));
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  const bool fits = !found.is_number_unsigned() || found.get<uint64_t>() <= kLargest;
  const int64_t number = found.is_null() || !fits ? fallback : found.get<int64_t>();
  if (!fits || number < range.least || number > range.most) {
    refuse(key, fmt::format("is {}: it must be from {} to {}", fits ? std::to_string(number) : shown(found),
                            range.least, range.most));
  }
  return number;
}

int64_t ForeignConfig::integer(const std::string& key, WholeNumbers range) {
  check_there(key);
  return integer(key, range.least, range);
}

Token ForeignConfig::token(const std::string& key, Token fallback, int64_t tokens) {
  return static_cast<Token>(integer(key, fallback, {0, std::min(tokens, kVocabularies.most) - 1}));
}

Token ForeignConfig::token(const std::string& key, int64_t tokens) {
  check_there(key);
  return token(key, 0, tokens);
}

double ForeignConfig::real(const std::string& key, double fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_number()) refuse(key, fmt::format("is {}: it must be a number", shown(found)));
  return found.get<double>();
}

bool ForeignConfig::flag(const std::string& key, bool fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_boolean()) refuse(key, fmt::format("is {}: it must be true or false", shown(found)));
  return found.get<bool>();
}

std::string ForeignConfig::text(const std::string& key, const std::string& fallback) {
  const auto& found = value(key);
  if (found.is_null()) return fallback;
  if (!found.is_string()) refuse(key, fmt::format("is {}: it must be a string", shown(found)));
  return found.get<std::string>();
}

void ForeignConfig::expect(const std::string& key, const nlohmann::json& only) {
  const auto& found = value(key);
  if (found.is_null() || found == only) return;
  refuse(key, fmt::format("is {}: only {} is supported", shown(found), only.dump()));
}

void ForeignConfig::expect_one_of(const std::string& key, std::initializer_list<const char*> allowed) {
  const auto& found = value(key);
  const auto is_found = [&](const char* one) { return found == one; };
  if (found.is_null() || std::any_of(allowed.begin(), allowed.end(), is_found)) return;
  refuse(key, fmt::format("is {}: only {} is supported", shown(found), fmt::join(allowed, " or ")));
}

void ForeignConfig::without_effect(std::initializer_list<const char*> keys) {
  read_.insert(keys.begin(), keys.end());
}

void ForeignConfig::check_all_read(IgnoredSettings& ignored) const {
  for (const auto& item : settings_->items()) {
    const std::string& key = item.key();
    if (item.value().is_null() || read_.contains(key)) continue;
    if (std::find(std::begin(kAboutTheFile), std::end(kAboutTheFile), key) != std::end(kAboutTheFile))
      continue;
    if (ignored.contains(key)) continue;
    refuse(key, fmt::format("is {}, an unknown setting: if it does not change what the model computes, give "
                            "--ignore {}",
                            shown(item.value()), shortened(key)));
  }
}

}  // namespace synthesizer
