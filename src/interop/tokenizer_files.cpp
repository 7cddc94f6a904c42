#include "interop/tokenizer_files.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "interop/foreign_files.h"
#include "interop/huggingface_unigram.h"
#include "interop/simple_yaml.h"
#include "interop/tokenizer_settings.h"
#include "text/byte_pairs.h"
#include "text/numbered_pieces.h"
#include "text/utf8.h"
#include "text/word_pieces.h"

namespace synthesizer {
namespace {

/// {"piece": number} as a list.
std::vector<std::string> numbered(const nlohmann::json& vocabulary, const std::string& path, int64_t size) {
  if (!vocabulary.is_object()) invalid(fmt::format("{} is damaged: it has no vocabulary", path));
  std::vector<std::string> pieces(static_cast<size_t>(size));
  for (const auto& [piece, number] : vocabulary.items()) {
    const int64_t place = number.is_number_integer() ? number.get<int64_t>() : -1;
    if (place < 0 || place >= size) {
      invalid(fmt::format("{}: the number of '{}' is {}, and the model has {} tokens", path, shortened(piece),
                          shortened(number.dump()), size));
    }
    pieces[static_cast<size_t>(place)] = piece;
  }
  return pieces;
}

/// The vocabulary of that file: {"piece": number} of JSON, or "piece: number" of YAML.
nlohmann::json vocabulary_of(const std::string& path) {
  if (path.ends_with(".json")) return read_json_object(path);
  if (!path.ends_with(".yml")) invalid(fmt::format("{}: vocabularies in .json or .yml are supported", path));
  auto vocabulary = nlohmann::json::object();
  for (const auto& [piece, numbers] : parse_yaml(read_file(path), path)) {
    const bool one = numbers.size() == 1 && !numbers[0].empty() &&
                     numbers[0].find_first_not_of("0123456789") == std::string::npos &&
                     numbers[0].size() < 10;
    if (!one) invalid(fmt::format("{}: '{}' has no number", path, shortened(piece)));
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

BytePairModel byte_pairs_of_files(const std::string& folder, int64_t size) {
  BytePairModel model;
  const std::string vocabulary = needed_file(folder, "vocab.json", "nor tokenizer.json");
  const std::string merges = needed_file(folder, "merges.txt", "the merges of its tokens");
  model.pieces = numbered(read_json_object(vocabulary), vocabulary, size);
  for (const std::string& line : lines_of(merges)) {
    if (!line.empty() && !line.starts_with("#version")) model.merges.push_back(merge_of(line, merges));
  }
  return model;
}

/// Those of tokenizer.json, which must treat a text as GPT-2 does.
BytePairModel byte_pairs_of_json(TokenizerSettings& settings, int64_t size, IgnoredSettings& ignored) {
  ForeignConfig& tokenizer = settings.tokenizer;
  tokenizer.expect("normalizer", nullptr);
  ForeignConfig parts = settings.needed_part("pre_tokenizer", {"ByteLevel"});
  parts.expect("add_prefix_space", false);
  parts.expect("use_regex", true);
  parts.without_effect({"trim_offsets"});
  parts.check_all_read(ignored);
  settings.check_surroundings({"A"});
  settings.needed_part("decoder", {"ByteLevel"});
  ForeignConfig pairs = settings.model("BPE");
  pairs.expect("dropout", 0.0);
  pairs.expect("continuing_subword_prefix", "");
  pairs.expect("end_of_word_suffix", "");
  pairs.expect("byte_fallback", false);
  pairs.expect("ignore_merges", false);
  pairs.without_effect({"unk_token", "fuse_unk"});  // every byte has a token
  BytePairModel model;
  model.pieces = numbered(pairs.value("vocab"), tokenizer.path(), size);
  const auto& merges = pairs.value("merges");
  if (!merges.is_array()) pairs.refuse("merges", "is not a list");
  for (const auto& merge : merges) model.merges.push_back(merge_of(merge, tokenizer.path()));
  pairs.check_all_read(ignored);
  return model;
}

std::vector<std::string> word_pieces_of_file(const std::string& folder, int64_t size) {
  const std::string path = needed_file(folder, "vocab.txt", "nor tokenizer.json");
  auto pieces = lines_of(path);
  if (static_cast<int64_t>(pieces.size()) > size)
    invalid(fmt::format("{} has {} tokens, and the model {}", path, pieces.size(), size));
  pieces.resize(static_cast<size_t>(size));
  return pieces;
}

/// The model of tokenizer.json, which must treat a text as BERT does.
WordPieceModel word_pieces_of_json(TokenizerSettings& settings, int64_t size, IgnoredSettings& ignored) {
  ForeignConfig normalizer = settings.needed_part("normalizer", {"BertNormalizer"});
  normalizer.expect("clean_text", true);
  WordPieceModel model;
  model.lowercase = normalizer.flag("lowercase", true);
  model.strip_accents = normalizer.flag("strip_accents", model.lowercase);
  model.split_chinese = normalizer.flag("handle_chinese_chars", true);
  normalizer.check_all_read(ignored);
  settings.needed_part("pre_tokenizer", {"BertPreTokenizer"}).check_all_read(ignored);
  settings.check_surroundings({model.begin, "A", model.end});
  settings.tokenizer.without_effect({"decoder"});  // no text is made of tokens
  ForeignConfig words = settings.model("WordPiece");
  words.expect("unk_token", model.unknown);
  words.expect("continuing_subword_prefix", "##");
  words.expect("max_input_chars_per_word", 100);
  model.pieces = numbered(words.value("vocab"), settings.tokenizer.path(), size);
  words.check_all_read(ignored);
  return model;
}

/// spiece.model with <extra_id_99> … <extra_id_0> behind its pieces, as far as the model has tokens.
PieceNumbering pieces_of_spiece(TokenizerSettings& settings, const std::string& path, int64_t size) {
  PieceNumbering numbering{.model = read_file(path)};
  sentencepiece::SentencePieceProcessor processor;
  if (!processor.LoadFromSerializedProto(numbering.model).ok())
    invalid(fmt::format("{} is not a SentencePiece model, or is damaged", path));
  numbering.unknown = processor.unk_id();
  for (int n = 0; n < processor.GetPieceSize(); ++n) numbering.pieces.push_back(processor.IdToPiece(n));
  const auto count = static_cast<int64_t>(numbering.pieces.size());
  if (count > size) invalid(fmt::format("{} has {} pieces, and the model {} tokens", path, count, size));
  const int64_t extra = settings.config.integer("extra_ids", 100, kLengths);
  for (int64_t n = extra; n-- > std::max<int64_t>(0, extra - (size - count));) {
    numbering.added.push_back(fmt::format("<extra_id_{}>", n));
    numbering.pieces.push_back(numbering.added.back());
  }
  return numbering;
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
  return std::make_shared<NumberedPieces>(std::move(numbering), model);
}

void check_marian_settings(ModelFolder& folder, const Tokenizer& source, Token pad) {
  TokenizerSettings settings(folder, {"MarianTokenizer"});
  settings.check_added_tokens({source.piece(source.end()), "<unk>", "<pad>", source.piece(pad)});
}

std::shared_ptr<const Tokenizer> t5_tokenizer(ModelFolder& folder, int64_t size, Token begin, Token end,
                                              Token forbidden) {
  TokenizerSettings settings(folder, {"T5Tokenizer", "T5TokenizerFast"});
  std::string path = settings.tokenizer.path();
  if (!settings.has_tokenizer) path = needed_file(folder.path, "spiece.model", "nor tokenizer.json");
  PieceNumbering numbering = settings.has_tokenizer ? unigram_numbering(settings, size, folder.ignored)
                                                    : pieces_of_spiece(settings, path, size);
  numbering.pieces.resize(static_cast<size_t>(size));
  numbering.begin = begin;
  numbering.end = end;
  numbering.forbidden = forbidden;
  std::vector<std::string> known = numbering.added;
  for (const Token token : {begin, end, numbering.unknown})
    known.push_back(numbering.pieces.at(static_cast<size_t>(token)));
  settings.check_added_tokens(known);
  if (settings.has_tokenizer) {
    settings.check_surroundings({"A", numbering.pieces[static_cast<size_t>(end)]});
    settings.tokenizer.check_all_read(folder.ignored);
  }
  return std::make_shared<NumberedPieces>(std::move(numbering), path);
}

std::shared_ptr<const Tokenizer> gpt2_tokenizer(ModelFolder& folder, int64_t size, Token end) {
  TokenizerSettings settings(folder, {"GPT2Tokenizer", "GPT2TokenizerFast"});
  settings.config.expect("add_prefix_space", false);
  settings.config.expect("add_bos_token", false);
  settings.config.expect("add_eos_token", false);
  settings.config.expect("errors", "replace");
  BytePairModel model = settings.has_tokenizer ? byte_pairs_of_json(settings, size, folder.ignored)
                                               : byte_pairs_of_files(folder.path, size);
  const std::string path = folder.path + (settings.has_tokenizer ? "/tokenizer.json" : "/vocab.json");
  model.end = model.pieces.at(static_cast<size_t>(end));
  if (model.end.empty()) invalid(fmt::format("{} has no token {}, which ends texts", path, end));
  settings.check_added_tokens({model.end}, /*spaces_count=*/true);
  settings.tokenizer.check_all_read(folder.ignored);
  return std::make_shared<BytePairs>(std::move(model), path);
}

std::shared_ptr<const Tokenizer> bert_tokenizer(ModelFolder& folder, int64_t size) {
  TokenizerSettings settings(folder, {"BertTokenizer", "BertTokenizerFast"});
  WordPieceModel model;
  if (settings.has_tokenizer) {
    model = word_pieces_of_json(settings, size, folder.ignored);
  } else {
    model.pieces = word_pieces_of_file(folder.path, size);
  }
  ForeignConfig& config = settings.config;
  if (config.has("do_lower_case"))  // accents go with capitals, unless something else is said
    model.strip_accents = model.lowercase = config.flag("do_lower_case", true);
  model.strip_accents = config.flag("strip_accents", model.strip_accents);
  model.split_chinese = config.flag("tokenize_chinese_chars", model.split_chinese);
  config.expect("do_basic_tokenize", true);
  config.expect("never_split", nlohmann::json::array());
  config.expect("wordpieces_prefix", "##");
  for (const char* token : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"}) {
    if (std::find(model.pieces.begin(), model.pieces.end(), token) != model.pieces.end())
      model.added.emplace_back(token);
  }
  settings.check_added_tokens(model.added);
  settings.tokenizer.check_all_read(folder.ignored);
  return std::make_shared<WordPieces>(
      std::move(model), folder.path + (settings.has_tokenizer ? "/tokenizer.json" : "/vocab.txt"));
}

}  // namespace synthesizer
