#include "interop/tokenizer_files.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/family.h"
#include "interop/simple_yaml.h"
#include "text/byte_pairs.h"
#include "text/numbered_pieces.h"
#include "text/utf8.h"
#include "text/word_pieces.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

nlohmann::json parsed_object(const std::string& path) {
  auto parsed = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) invalid(fmt::format("{} is damaged: it is not a JSON object", path));
  return parsed;
}

/// The object in that file of the folder; empty where there is no such file.
nlohmann::json optional_object(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  return fs::exists(path) ? parsed_object(path) : nlohmann::json::object();
}

/// {"piece": number} as a list.
std::vector<std::string> numbered(const nlohmann::json& vocabulary, const std::string& path, int64_t size) {
  if (!vocabulary.is_object()) invalid(fmt::format("{} is damaged: it has no vocabulary", path));
  std::vector<std::string> pieces(static_cast<size_t>(size));
  for (const auto& [piece, number] : vocabulary.items()) {
    const int64_t place = number.is_number_integer() ? number.get<int64_t>() : -1;
    if (place < 0 || place >= size) {
      invalid(fmt::format("{}: the number of '{}' is {}, and the model has {} tokens", path, piece,
                          number.dump(), size));
    }
    pieces[static_cast<size_t>(place)] = piece;
  }
  return pieces;
}

/// The vocabulary of that file: {"piece": number} of JSON, or "piece: number" of YAML.
nlohmann::json vocabulary_of(const std::string& path) {
  if (!path.ends_with(".yml")) return parsed_object(path);
  auto vocabulary = nlohmann::json::object();
  for (const auto& [piece, numbers] : parse_yaml(read_file(path), path)) {
    const bool one = numbers.size() == 1 && !numbers[0].empty() &&
                     numbers[0].find_first_not_of("0123456789") == std::string::npos &&
                     numbers[0].size() < 10;
    if (!one) invalid(fmt::format("{}: '{}' has no number", path, piece));
    vocabulary[piece] = std::stoll(numbers[0]);
  }
  return vocabulary;
}

/// The lines of a file without their line breaks.
std::vector<std::string> lines_of(const std::string& path) {
  const std::string text = read_file(path);
  if (first_invalid_byte(text) != std::string::npos)
    invalid(fmt::format("{} is damaged: it is not UTF-8", path));
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

/// A merge as tokenizer.json has it: "a b", or ["a", "b"].
std::pair<std::string, std::string> merge_of(const nlohmann::json& merge, const std::string& path) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  const std::string text = merge.is_string() ? merge.get<std::string>() : "";
  const size_t blank = text.find(' ');
  if (blank == std::string::npos) invalid(fmt::format("{} is damaged: a merge is not two pieces", path));
  return {text.substr(0, blank), text.substr(blank + 1)};
}

/// tokenizer.json's model, which must be of that type.
nlohmann::json tokenizer_model(const std::string& folder, const char* type, const char* wanted) {
  const std::string path = needed_file(folder, "tokenizer.json", fmt::format("nor {}", wanted));
  auto model = parsed_object(path).value("model", nlohmann::json::object());
  if (!model.is_object() || model.value("type", "") != type)
    invalid(fmt::format("{}: its model is not of the type {}", path, type));
  return model;
}

bool flag_of(const nlohmann::json& settings, const char* key, bool fallback) {
  const auto found = settings.find(key);
  return found != settings.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

/// Tokens that were added to the vocabulary stand for themselves wherever they occur in a text. Throws
/// InvalidInput where added_tokens.json has one that the tokenizer here would take apart.
void check_added_tokens(const std::string& folder, const std::vector<std::string>& known) {
  const auto added = optional_object(folder, "added_tokens.json");
  for (const auto& item : added.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    invalid(fmt::format("{}/added_tokens.json: the added token '{}' is not supported", folder, item.key()));
  }
}

}  // namespace

std::shared_ptr<const Tokenizer> marian_tokenizer(const std::string& folder, const MarianFiles& files) {
  const std::string model = needed_file(folder, files.model, "its SentencePiece model");
  const std::string vocabulary = needed_file(folder, files.vocabulary, "the numbers of its tokens");
  PieceNumbering numbering{.model = read_file(model),
                           .pieces = numbered(vocabulary_of(vocabulary), vocabulary, files.size),
                           .begin = files.begin,
                           .end = files.end,
                           .forbidden = files.forbidden,
                           .language_codes = files.language_codes};
  const auto unknown = std::find(numbering.pieces.begin(), numbering.pieces.end(), "<unk>");
  if (unknown == numbering.pieces.end()) invalid(fmt::format("{} has no token '<unk>'", vocabulary));
  numbering.unknown = static_cast<Token>(unknown - numbering.pieces.begin());
  check_added_tokens(folder, {"</s>", "<unk>", "<pad>"});
  return std::make_shared<NumberedPieces>(std::move(numbering), model);
}

std::shared_ptr<const Tokenizer> t5_tokenizer(const std::string& folder, int64_t size, Token begin, Token end,
                                              Token forbidden) {
  const std::string path = needed_file(folder, "spiece.model", "its SentencePiece model");
  PieceNumbering numbering{.model = read_file(path), .begin = begin, .end = end, .forbidden = forbidden};
  sentencepiece::SentencePieceProcessor processor;
  if (!processor.LoadFromSerializedProto(numbering.model).ok())
    invalid(fmt::format("{} is not a SentencePiece model, or is damaged", path));
  numbering.unknown = processor.unk_id();
  for (int n = 0; n < processor.GetPieceSize(); ++n) numbering.pieces.push_back(processor.IdToPiece(n));
  const auto extra = optional_object(folder, "tokenizer_config.json").value("extra_ids", int64_t{100});
  if (extra < 0 || static_cast<int64_t>(numbering.pieces.size()) > size)
    invalid(fmt::format("{} has {} pieces, and the model {} tokens", path, numbering.pieces.size(), size));
  for (int64_t n = extra; n-- > 0;) {
    if (static_cast<int64_t>(numbering.pieces.size()) == size) break;
    numbering.added.push_back(fmt::format("<extra_id_{}>", n));
    numbering.pieces.push_back(numbering.added.back());
  }
  std::vector<std::string> known = {"</s>", "<unk>", "<pad>"};
  known.insert(known.end(), numbering.added.begin(), numbering.added.end());
  check_added_tokens(folder, known);
  numbering.pieces.resize(static_cast<size_t>(size));
  return std::make_shared<NumberedPieces>(std::move(numbering), path);
}

std::shared_ptr<const Tokenizer> gpt2_tokenizer(const std::string& folder, int64_t size, Token end) {
  BytePairModel model;
  std::string path = folder + "/vocab.json";
  if (fs::exists(path)) {
    model.pieces = numbered(parsed_object(path), path, size);
    const std::string merges = needed_file(folder, "merges.txt", "the merges of its tokens");
    for (const std::string& line : lines_of(merges)) {
      if (!line.empty() && !line.starts_with("#version")) model.merges.push_back(merge_of(line, merges));
    }
  } else {
    const auto parsed = tokenizer_model(folder, "BPE", "vocab.json");
    path = folder + "/tokenizer.json";
    model.pieces = numbered(parsed.value("vocab", nlohmann::json()), path, size);
    for (const auto& merge : parsed.value("merges", nlohmann::json::array()))
      model.merges.push_back(merge_of(merge, path));
  }
  const auto settings = optional_object(folder, "tokenizer_config.json");
  for (const char* key : {"add_prefix_space", "add_bos_token"}) {
    if (flag_of(settings, key, false))
      invalid(fmt::format("{}/tokenizer_config.json: '{}' is true: only false is supported", folder, key));
  }
  if (end < 0 || end >= size || model.pieces[static_cast<size_t>(end)].empty())
    invalid(fmt::format("{} has no token {}, which ends texts", path, end));
  model.end = model.pieces[static_cast<size_t>(end)];
  check_added_tokens(folder, {model.end});
  return std::make_shared<BytePairs>(std::move(model), path);
}

std::shared_ptr<const Tokenizer> bert_tokenizer(const std::string& folder, int64_t size) {
  WordPieceModel model;
  std::string path = folder + "/vocab.txt";
  if (fs::exists(path)) {
    model.pieces = lines_of(path);
    if (static_cast<int64_t>(model.pieces.size()) > size)
      invalid(fmt::format("{} has {} tokens, and the model {}", path, model.pieces.size(), size));
    model.pieces.resize(static_cast<size_t>(size));
  } else {
    path = folder + "/tokenizer.json";
    const auto vocabulary =
        tokenizer_model(folder, "WordPiece", "vocab.txt").value("vocab", nlohmann::json());
    model.pieces = numbered(vocabulary, path, size);
  }
  const auto normalizer = optional_object(folder, "tokenizer.json").value("normalizer", nlohmann::json());
  const auto there = normalizer.is_object() ? normalizer : nlohmann::json::object();
  const auto settings = optional_object(folder, "tokenizer_config.json");
  model.lowercase = flag_of(settings, "do_lower_case", flag_of(there, "lowercase", true));
  model.strip_accents = flag_of(settings, "strip_accents", flag_of(there, "strip_accents", model.lowercase));
  model.split_chinese =
      flag_of(settings, "tokenize_chinese_chars", flag_of(there, "handle_chinese_chars", true));
  for (const char* token : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}) {
    if (std::find(model.pieces.begin(), model.pieces.end(), token) != model.pieces.end())
      model.added.emplace_back(token);
  }
  check_added_tokens(folder, model.added);
  if (!flag_of(settings, "do_basic_tokenize", true))
    invalid(fmt::format("{}/tokenizer_config.json: 'do_basic_tokenize' is false: only true is supported",
                        folder));
  if (const auto never = settings.value("never_split", nlohmann::json()); !never.empty()) {
    invalid(
        fmt::format("{}/tokenizer_config.json: 'never_split' is {}: it must be empty", folder, never.dump()));
  }
  return std::make_shared<WordPieces>(std::move(model), path);
}

}  // namespace synthesizer
