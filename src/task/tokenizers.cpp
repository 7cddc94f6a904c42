#include "task/tokenizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "task/registry.h"
#include "text/content_hash.h"
#include "text/examples.h"

namespace synthesizer {
namespace {

const std::vector<std::string> kKinds = {"unigram", "bpe", "characters", "bytes", "words"};

std::string source_file(const std::string& folder) {
  return folder + "/tokenizer.model";
}
std::string target_file(const std::string& folder) {
  return folder + "/tokenizer.target.model";
}

/// The lines of the training text: those of one field, or of all (-1).
LineSource training_lines(const Recipe& recipe, int field) {
  const size_t first = find_task(recipe.task).first_text;
  return [&recipe, field, first](const std::function<void(std::string_view)>& give) {
    ExampleReader reader(files_of(recipe, recipe.data.train));
    std::vector<std::string> fields;
    while (reader.next(fields)) {
      for (size_t i = first; i < fields.size(); ++i) {
        if (field < 0 || i == static_cast<size_t>(field)) give(fields[i]);
      }
    }
  };
}

std::shared_ptr<const Tokenizer> load_named(const Recipe& recipe) {
  const std::string& name = recipe.data.tokenizer;
  const std::string path = data_path(recipe, name);
  if (!std::filesystem::exists(path)) {
    invalid(
        fmt::format("data.tokenizer is \"{}\": it must be unigram, bpe, characters, bytes, words or a file{}",
                    name, did_you_mean(name, kKinds)));
  }
  return load_tokenizer(path);
}

}  // namespace

std::string Tokenizers::hash() const {
  ContentHash hash;
  hash.add(source->serialized());
  if (!joint()) hash.add(target->serialized());
  return hash.hex();
}

Tokenizers make_tokenizers(const Recipe& recipe) {
  const DataOptions& data = recipe.data;
  // Weights mean what they mean for one vocabulary only.
  if (const std::string& from = recipe.train.init_from; !from.empty()) {
    if (!std::filesystem::exists(source_file(from)))
      invalid(fmt::format("train.init_from is {}: it is no run (it has no tokenizer.model)", from));
    return load_tokenizers(from);
  }
  if (std::find(kKinds.begin(), kKinds.end(), data.tokenizer) == kKinds.end()) {
    const auto one = load_named(recipe);
    return {one, one};
  }
  const TokenizerOptions options{data.tokenizer, data.vocabulary, data.character_coverage};
  auto train = [&](int field) -> std::shared_ptr<const Tokenizer> {
    return train_tokenizer(options, training_lines(recipe, field));
  };
  if (data.joint || find_task(recipe.task).fields < 2) {
    const auto one = train(-1);
    return {one, one};
  }
  return {train(0), train(1)};
}

void save_tokenizers(const std::string& folder, const Tokenizers& tokenizers) {
  write_file(source_file(folder), tokenizers.source->serialized());
  if (!tokenizers.joint()) write_file(target_file(folder), tokenizers.target->serialized());
}

Tokenizers load_tokenizers(const std::string& folder) {
  const std::shared_ptr<const Tokenizer> source = load_tokenizer(source_file(folder));
  if (!std::filesystem::exists(target_file(folder))) return {source, source};
  return {source, load_tokenizer(target_file(folder))};
}

}  // namespace synthesizer
