#include "interop/tokenizer_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "interop/foreign_files.h"

namespace synthesizer {
namespace {

/// Classes of transformers that are no family's own.
bool is_general_class(const std::string& name) {
  return name == "PreTrainedTokenizerFast" || name == "TokenizersBackend";
}

/// Added tokens as the files write them: texts or objects with "content", in lists and objects of any kind.
class AddedTokenCheck {
 public:
  AddedTokenCheck(const std::vector<std::string>& known, bool spaces_count)
      : known_(known.begin(), known.end()), spaces_count_(spaces_count) {}

  void check(const nlohmann::json& tokens, const std::string& file) const {
    if (tokens.is_string()) return check_text(tokens.get<std::string>(), file);
    if (tokens.is_object() && tokens.contains("content")) return check_token(tokens, file);
    if (!tokens.is_structured()) return;
    for (const auto& one : tokens) check(one, file);
  }

  void check_text(const std::string& text, const std::string& file) const {
    if (!known_.contains(text))
      invalid(fmt::format("{}: the added token '{}' is not supported", file, shortened(text)));
  }

 private:
  void check_token(const nlohmann::json& token, const std::string& file) const {
    const std::string text = token["content"].is_string() ? token["content"].get<std::string>() : "";
    check_text(text, file);
    for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
      if (flag != std::string_view("single_word") && !spaces_count_) continue;
      if (token.value(flag, nlohmann::json()) == true)
        invalid(fmt::format("{}: '{}' of the added token '{}' is true: only false is supported", file, flag,
                            shortened(text)));
    }
  }

  std::set<std::string> known_;
  bool spaces_count_;
};

/// The tokens around a text as TemplateProcessing has them: "[CLS]", "A", "[SEP]".
std::vector<std::string> template_texts(ForeignConfig& processor) {
  std::vector<std::string> texts;
  processor.for_each_part("single", [&](ForeignConfig& item) {
    ForeignConfig part = item.part(item.has("Sequence") ? "Sequence" : "SpecialToken");
    part.expect("type_id", 0);
    texts.push_back(part.text("id", ""));
  });
  return texts;
}

}  // namespace

TokenizerSettings::TokenizerSettings(ModelFolder& folder, std::initializer_list<const char*> classes)
    : config(ForeignConfig::optional(folder.path + "/tokenizer_config.json")),
      tokenizer(ForeignConfig::optional(folder.path + "/tokenizer.json")),
      has_tokenizer(std::filesystem::exists(folder.path + "/tokenizer.json")),
      folder_(folder.path) {
  for (ForeignConfig* settings : {&folder.config, &config}) {
    if (!is_general_class(settings->text("tokenizer_class", "")))
      settings->expect_one_of("tokenizer_class", classes);
  }
  config.expect("sp_model_kwargs", nlohmann::json::object());
  tokenizer.without_effect({"version", "truncation", "padding"});  // for whoever asks for them
}

ForeignConfig TokenizerSettings::model(const char* type) {
  ForeignConfig part = tokenizer.part("model");
  part.expect("type", type);
  return part;
}

ForeignConfig TokenizerSettings::needed_part(const std::string& key,
                                             std::initializer_list<const char*> types) {
  ForeignConfig part = tokenizer.part(key);
  if (!part.has("type"))
    tokenizer.refuse(key, fmt::format("is missing: only {} is supported", fmt::join(types, " or ")));
  part.expect_one_of("type", types);
  return part;
}

void TokenizerSettings::check_surroundings(const std::vector<std::string>& wanted) {
  ForeignConfig processor = tokenizer.part("post_processor");
  const std::string type = processor.text("type", "");
  std::vector<std::string> found = {"A"};
  if (type == "TemplateProcessing") {
    found = template_texts(processor);
  } else if (type == "BertProcessing") {  // {"cls": ["[CLS]", 2], "sep": …}
    auto name_of = [&](const char* key) {
      const auto& pair = processor.value(key);
      return pair.is_array() && !pair.empty() && pair[0].is_string() ? pair[0].get<std::string>() : "";
    };
    found = {name_of("cls"), "A", name_of("sep")};
  } else if (!type.empty() && type != "ByteLevel") {  // ByteLevel: what belongs to which part of the text
    processor.refuse("type", fmt::format("is \"{}\", which is not supported", shortened(type)));
  }
  if (found == wanted) return;
  tokenizer.refuse("post_processor",
                   fmt::format("makes {} of a text A: only {} is supported",
                               shortened(fmt::format("{}", fmt::join(found, " "))), fmt::join(wanted, " ")));
}

void TokenizerSettings::check_added_tokens(const std::vector<std::string>& known, bool spaces_count) {
  const AddedTokenCheck added(known, spaces_count);
  const std::string numbers = folder_ + "/added_tokens.json", named = folder_ + "/special_tokens_map.json";
  if (std::filesystem::exists(numbers)) {  // {"<new>": 7}
    for (const auto& item : read_json_object(numbers).items()) added.check_text(item.key(), numbers);
  }
  if (std::filesystem::exists(named)) added.check(read_json_object(named), named);
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
        "additional_special_tokens", "extra_special_tokens", "added_tokens_decoder"}) {
    added.check(config.value(key), config.path());
  }
  added.check(tokenizer.value("added_tokens"), tokenizer.path());
}

}  // namespace synthesizer
