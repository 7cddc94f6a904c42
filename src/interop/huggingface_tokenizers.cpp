#include "interop/huggingface_tokenizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "interop/huggingface_unigram.h"
#include "text/byte_pairs.h"
#include "text/numbered_pieces.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_tokenizer.h"
#include "text/word_pieces.h"

namespace synthesizer {
namespace {

/// {"piece": number}, in the order of the numbers; numbers without a piece are left out.
std::string vocabulary_text(const std::vector<std::string>& pieces) {
  std::string text;
  for (size_t n = 0; n < pieces.size(); ++n) {
    if (pieces[n].empty()) continue;
    text += fmt::format("{}\n  {}: {}", text.empty() ? "{" : ",", nlohmann::json(pieces[n]).dump(), n);
  }
  return text + "\n}\n";
}

FolderFile tokenizer_config(nlohmann::ordered_json settings, int64_t longest) {
  settings["model_max_length"] = longest;
  return {"tokenizer_config.json", settings.dump(2) + "\n"};
}

[[noreturn]] void no_such_tokenizer(const Tokenizer& tokenizer, const char* family, const char* wanted) {
  invalid(fmt::format("this run's tokenizer is of the kind '{}', and {} has {} alone", tokenizer.kind(),
                      family, wanted));
}

/// SentencePiece's pieces with their numbers, SentencePiece's own or others.
PieceNumbering numbering_of(const Tokenizer& tokenizer, const char* family) {
  if (const auto* numbered = dynamic_cast<const NumberedPieces*>(&tokenizer)) return numbered->numbering();
  if (!dynamic_cast<const SentencePieceTokenizer*>(&tokenizer))
    no_such_tokenizer(tokenizer, family, "SentencePiece");
  PieceNumbering numbering{.model = tokenizer.serialized(),
                           .begin = tokenizer.begin(),
                           .end = tokenizer.end(),
                           .unknown = tokenizer.unknown(),
                           .forbidden = tokenizer.forbidden()};
  for (Token n = 0; n < tokenizer.size(); ++n) numbering.pieces.push_back(tokenizer.piece(n));
  return numbering;
}

Token place_of(const std::vector<std::string>& pieces, const std::string& piece) {
  const auto found = std::find(pieces.begin(), pieces.end(), piece);
  return found == pieces.end() ? -1 : static_cast<Token>(found - pieces.begin());
}

const std::string& piece_of(const PieceNumbering& numbering, Token token) {
  return numbering.pieces[static_cast<size_t>(token)];
}

/// Marian's decoder may begin with a token that has no piece; a vocabulary file names all tokens in use.
void name_begin(PieceNumbering& numbering) {
  auto& begin = numbering.pieces[static_cast<size_t>(numbering.begin)];
  if (begin.empty()) begin = place_of(numbering.pieces, "<pad>") < 0 ? "<pad>" : "<start>";
}

void check_marian_numbering(const PieceNumbering& numbering) {
  if (piece_of(numbering, numbering.unknown) != "<unk>")
    invalid(fmt::format("this run's tokenizer calls unknown text '{}', and MarianMT calls it '<unk>'",
                        piece_of(numbering, numbering.unknown)));
  if (!numbering.added.empty())
    invalid(fmt::format("this run's tokenizer has the added token '{}', and MarianMT has none",
                        numbering.added.front()));
}

/// One number for both sides. It is best what the decoder begins with, which is then left out of texts.
Token marian_padding(const PieceNumbering& source, const PieceNumbering& target) {
  const auto sources = static_cast<Token>(source.pieces.size());
  const auto targets = static_cast<Token>(target.pieces.size());
  if (target.begin < sources && piece_of(source, target.begin) == piece_of(target, target.begin))
    return target.begin;
  const Token own = place_of(source.pieces, "<pad>");
  return own >= 0 && own < targets ? own : source.end;
}

}  // namespace

Token number_of_piece(const Tokenizer& tokenizer, const std::string& piece) {
  for (Token n = 0; n < tokenizer.size(); ++n) {
    if (tokenizer.piece(n) == piece) return n;
  }
  return -1;
}

MarianTokenizerFiles marian_tokenizer_files(const Tokenizers& tokenizers, bool shared, int64_t longest) {
  constexpr const char* kFamily = "MarianMT";
  PieceNumbering source = numbering_of(*tokenizers.source, kFamily);
  PieceNumbering target = numbering_of(*tokenizers.target, kFamily);
  for (PieceNumbering* numbering : {&source, &target}) {
    check_marian_numbering(*numbering);
    name_begin(*numbering);
  }
  const std::string& end = piece_of(target, target.end);
  if (source.end != target.end || piece_of(source, source.end) != end)
    invalid("this run's tokenizers end their texts with different tokens, and MarianMT has one for both");

  const Token pad = marian_padding(source, target);
  FolderFiles files = {{"source.spm", source.model}, {"target.spm", target.model}};
  files.push_back({"vocab.json", vocabulary_text(shared ? target.pieces : source.pieces)});
  if (!shared) files.push_back({"target_vocab.json", vocabulary_text(target.pieces)});
  files.push_back(tokenizer_config({{"tokenizer_class", "MarianTokenizer"},
                                    {"separate_vocabs", !shared},
                                    {"unk_token", "<unk>"},
                                    {"eos_token", end},
                                    {"pad_token", piece_of(source, pad)}},
                                   longest));
  return {std::move(files), pad};
}

FolderFiles t5_tokenizer_files(const Tokenizer& tokenizer, int64_t longest) {
  const PieceNumbering numbering = numbering_of(tokenizer, "T5");
  if (inspect_sentencepiece_model(numbering.model).kind != "unigram")
    no_such_tokenizer(tokenizer, "T5", "SentencePiece's unigram");
  check_unigram_settings(numbering);
  // Behind the pieces of the model: <extra_id_2>, <extra_id_1>, <extra_id_0>, and numbers without a piece.
  const SentencePieceTokenizer own(numbering.model, "spiece.model");
  std::vector<std::string> pieces;
  for (Token n = 0; n < own.size(); ++n) pieces.push_back(own.piece(n));
  const auto extra = static_cast<int64_t>(numbering.added.size());
  for (int64_t n = extra; n-- > 0;) pieces.push_back(fmt::format("<extra_id_{}>", n));
  pieces.resize(std::max(pieces.size(), numbering.pieces.size()));
  if (pieces != numbering.pieces)
    invalid("this run's tokenizer does not number its tokens as its SentencePiece model does, and T5 does");
  // Transformers' own class for T5 takes these for granted; of others, tokenizer.json says them.
  constexpr Token kUnknown = 2;
  const std::string& end = piece_of(numbering, numbering.end);
  const bool usual = numbering.unknown == kUnknown && end == "</s>";
  nlohmann::ordered_json settings = {{"tokenizer_class", usual ? "T5Tokenizer" : "PreTrainedTokenizerFast"},
                                     {"eos_token", end},
                                     {"unk_token", piece_of(numbering, numbering.unknown)},
                                     {"pad_token", piece_of(numbering, numbering.begin)},
                                     {"extra_ids", extra}};
  FolderFiles files = {{"spiece.model", numbering.model}, tokenizer_config(std::move(settings), longest)};
  if (!usual) files.push_back({"tokenizer.json", unigram_tokenizer_json(numbering)});
  return files;
}

FolderFiles gpt2_tokenizer_files(const Tokenizer& tokenizer, int64_t longest) {
  const auto* pairs = dynamic_cast<const BytePairs*>(&tokenizer);
  if (!pairs) no_such_tokenizer(tokenizer, "GPT-2", "byte pairs");
  const BytePairModel& model = pairs->model();
  std::string merges = "#version: 0.2\n";
  for (const auto& [left, right] : model.merges) merges += left + " " + right + "\n";
  return {{"vocab.json", vocabulary_text(model.pieces)},
          {"merges.txt", merges},
          tokenizer_config({{"tokenizer_class", "GPT2Tokenizer"},
                            {"bos_token", model.end},
                            {"eos_token", model.end},
                            {"unk_token", model.end}},
                           longest)};
}

FolderFiles bert_tokenizer_files(const Tokenizer& tokenizer, int64_t longest) {
  const auto* words = dynamic_cast<const WordPieces*>(&tokenizer);
  if (!words) no_such_tokenizer(tokenizer, "BERT", "word pieces");
  const WordPieceModel& model = words->model();
  // A line for every number up to the last piece; no word of a text is one of those that fill gaps, as
  // brackets are words of their own.
  auto last = model.pieces.size();
  while (last > 0 && model.pieces[last - 1].empty()) --last;
  const std::set<std::string> named(model.pieces.begin(), model.pieces.end());
  std::string vocabulary;
  for (size_t n = 0; n < last; ++n) {
    std::string piece = model.pieces[n].empty() ? fmt::format("[unused{}]", n) : model.pieces[n];
    while (model.pieces[n].empty() && named.contains(piece)) piece.insert(1, "_");
    vocabulary += piece + "\n";
  }
  nlohmann::ordered_json settings = {{"tokenizer_class", "BertTokenizer"},
                                     {"do_lower_case", model.lowercase},
                                     {"strip_accents", model.strip_accents},
                                     {"tokenize_chinese_chars", model.split_chinese},
                                     {"unk_token", model.unknown},
                                     {"cls_token", model.begin},
                                     {"sep_token", model.end}};
  for (const auto& [key, token] : {std::pair{"pad_token", "[PAD]"}, std::pair{"mask_token", "[MASK]"}}) {
    if (named.contains(token)) settings[key] = token;
  }
  return {{"vocab.txt", vocabulary}, tokenizer_config(std::move(settings), longest)};
}

}  // namespace synthesizer
