#include "task/tokenizers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/version.h"
#include "task/data_files.h"
#include "task/registry.h"
#include "text/content_hash.h"
#include "text/examples.h"
#include "text/file_stamp.h"

namespace synthesizer {
namespace {

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

/// Where a tokenizer that was trained on this text before is kept: its name says all that it depends on.
std::string trained_file(const Recipe& recipe, const TokenizerOptions& options, int field) {
  const std::string cache = cache_folder(recipe);
  const Files files = files_of(recipe, recipe.data.train);
  ContentHash hash;
  for (const std::string& part :
       {std::string("tokenizer"), std::string(version()), std::string(choice_name(options.kind)),
        std::to_string(options.vocabulary), fmt::format("{}", options.character_coverage),
        std::to_string(field), recipe.task, std::string(choice_name(files.format)), files.converter_key,
        fmt::format("{}", fmt::join(files.columns, " ")), std::to_string(files.side_by_side)}) {
    hash.add(part);
  }
  for (const std::string& path : files.paths) hash.add(remembered_hash(cache + "/hashes", path));
  return fmt::format("{}/tokenizers/{}.model", cache, hash.hex());
}

/// Trained on the training text, once: a large text takes many minutes.
std::shared_ptr<const Tokenizer> trained_tokenizer(const Recipe& recipe, const TokenizerOptions& options,
                                                   int field) {
  const std::string file = trained_file(recipe, options, field);
  std::error_code none;
  if (std::filesystem::exists(file, none)) {
    try {
      return load_tokenizer(file);
    } catch (const std::exception&) {  // damaged: trained again
    }
  }
  std::shared_ptr<const Tokenizer> tokenizer = train_tokenizer(options, training_lines(recipe, field));
  try {
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    write_file(file, tokenizer->serialized());
  } catch (const std::exception&) {  // the next start trains it again
  }
  return tokenizer;
}

std::shared_ptr<const Tokenizer> load_named(const Recipe& recipe) {
  const std::string& name = recipe.data.tokenizer;
  const std::string path = data_path(recipe, name);
  if (!std::filesystem::exists(path)) {
    const auto kinds = names_of(choices(TokenizerKind{}));
    invalid(fmt::format("data.tokenizer is \"{}\": it must be {} or a file{}", name, fmt::join(kinds, ", "),
                        did_you_mean(name, kinds)));
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
      invalid(fmt::format("train.init_from is {}: it is not a run folder (it has no tokenizer.model)", from));
    return load_tokenizers(from);
  }
  const auto kind = find_choice(choices(TokenizerKind{}), data.tokenizer);
  if (!kind) {
    const auto one = load_named(recipe);
    return {one, one};
  }
  const TokenizerOptions options{static_cast<TokenizerKind>(*kind), data.vocabulary, data.character_coverage};
  auto train = [&](int field) { return trained_tokenizer(recipe, options, field); };
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
