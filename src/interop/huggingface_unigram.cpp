#include "interop/huggingface_unigram.h"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.h"
#include "base/error.h"
#include "base/protobuf_message.h"
#include "text/protobuf_reader.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of fields in sentencepiece_model.proto.
namespace proto {
constexpr uint64_t kPiece = 1, kTrainerSpec = 2, kNormalizerSpec = 3;
constexpr uint64_t kText = 1, kScore = 2, kType = 3;         // of a piece
constexpr int64_t kNormal = 1, kUnknown = 2, kControl = 3;   // its types
constexpr uint64_t kModelType = 3, kUnigram = 1;             // of the trainer
constexpr uint64_t kByteFallback = 35, kSpaceAsSuffix = 24;  // of the trainer; false
constexpr uint64_t kCharsmap = 2, kSpaceBefore = 3, kOneSpace = 4,
                   kMarkSpaces = 5;  // of the normalizer; true
}  // namespace proto

/// How the model prepares a text.
struct TextSettings {
  std::string_view charsmap;  ///< by which it normalizes characters; empty: they stay
  bool usual = true;          ///< spaces and unknown characters as T5's tokenizers have them
};

TextSettings text_settings(std::string_view model) {
  TextSettings result;
  for (ProtobufReader fields(model); const auto field = fields.next();) {
    ProtobufReader settings(field->bytes);
    if (field->number == proto::kTrainerSpec) {
      while (const auto one = settings.next()) {
        if (one->number == proto::kByteFallback || one->number == proto::kSpaceAsSuffix)
          result.usual = result.usual && one->value == 0;
      }
    } else if (field->number == proto::kNormalizerSpec) {
      while (const auto one = settings.next()) {
        if (one->number == proto::kCharsmap) result.charsmap = one->bytes;
        if (one->number >= proto::kSpaceBefore && one->number <= proto::kMarkSpaces)
          result.usual = result.usual && one->value != 0;
      }
    }
  }
  return result;
}

constexpr const char* kWordBegin = "\xE2\x96\x81";  // ▁, which stands for a space in pieces

/// The bytes that base64() wrote as this text; nothing where it is another text.
std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return "";
    bits = bits << 6U | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  return bytes;
}

/// The steps of a part of tokenizer.json, which is one step or a sequence of them.
void for_each_step(ForeignConfig& part, const char* steps, const std::function<void(ForeignConfig&)>& use) {
  if (part.text("type", "") == "Sequence") return part.for_each_part(steps, use);
  use(part);
}

/// The table by which tokenizer.json normalizes characters; empty: they stay. What it may do besides with
/// spaces, SentencePiece does too.
std::string charsmap_of(ForeignConfig normalizer) {
  std::string charsmap;
  for_each_step(normalizer, "normalizers", [&](ForeignConfig& step) {
    step.expect_one_of("type", {"Precompiled", "Strip", "Replace"});
    step.expect("pattern", {{"Regex", " {2,}"}});
    step.expect_one_of("content", {kWordBegin, " "});
    if (!step.has("precompiled_charsmap")) return;
    charsmap = from_base64(step.text("precompiled_charsmap", ""));
    if (charsmap.empty()) step.refuse("precompiled_charsmap", "is damaged: it is not base64");
  });
  return charsmap;
}

/// Throws InvalidInput where words do not begin with ▁, the first one included.
void check_words(TokenizerSettings& settings) {
  ForeignConfig splitter = settings.needed_part("pre_tokenizer", {"Metaspace", "Sequence"});
  bool marked = false;
  for_each_step(splitter, "pretokenizers", [&](ForeignConfig& step) {
    step.expect_one_of("type", {"Metaspace", "WhitespaceSplit"});
    step.expect("replacement", kWordBegin);
    step.expect("add_prefix_space", true);
    step.expect("prepend_scheme", "always");
    marked = marked || step.text("type", "") == "Metaspace";
  });
  if (!marked) settings.tokenizer.refuse("pre_tokenizer", "has no Metaspace, which alone is supported");
  settings.needed_part("decoder", {"Metaspace"});
}

struct ScoredPiece {
  std::string text;
  float score;
};

std::vector<ScoredPiece> scored_pieces(ForeignConfig& model, int64_t size) {
  const auto& vocabulary = model.value("vocab");
  const auto is_piece = [](const auto& one) {
    return one.is_array() && one.size() == 2 && one[0].is_string() && one[1].is_number();
  };
  if (!vocabulary.is_array() || !std::all_of(vocabulary.begin(), vocabulary.end(), is_piece))
    model.refuse("vocab", "is not a list of pieces and their scores");
  if (static_cast<int64_t>(vocabulary.size()) > size)
    model.refuse("vocab", fmt::format("has {} pieces, and the model {} tokens", vocabulary.size(), size));
  std::vector<ScoredPiece> pieces;
  for (const auto& one : vocabulary) pieces.push_back({one[0].get<std::string>(), one[1].get<float>()});
  return pieces;
}

/// The tokens that stand in a text as they are, by their numbers.
std::map<int64_t, std::string> numbered_added(ForeignConfig& tokenizer, int64_t size) {
  std::map<int64_t, std::string> added;
  tokenizer.for_each_part("added_tokens", [&](ForeignConfig& token) {
    added[token.integer("id", {0, size - 1})] = token.text("content", "");
  });
  return added;
}

/// A serialized ModelProto of the first `count` pieces. Those that stand in a text as they are get no text of
/// SentencePiece.
std::string sentencepiece_model(const std::vector<ScoredPiece>& pieces, size_t count, int64_t unknown,
                                const std::map<int64_t, std::string>& added, const std::string& charsmap) {
  ProtobufMessage model;
  for (size_t n = 0; n < count; ++n) {
    const auto number = static_cast<int64_t>(n);
    const int64_t type = number == unknown        ? proto::kUnknown
                         : added.contains(number) ? proto::kControl
                                                  : proto::kNormal;
    model.bytes(proto::kPiece, ProtobufMessage()
                                   .bytes(proto::kText, pieces[n].text)
                                   .single(proto::kScore, pieces[n].score)
                                   .whole(proto::kType, type)
                                   .done());
  }
  model.bytes(proto::kTrainerSpec, ProtobufMessage().whole(proto::kModelType, proto::kUnigram).done());
  model.bytes(proto::kNormalizerSpec, ProtobufMessage().bytes(proto::kCharsmap, charsmap).done());
  return model.done();
}

Json template_of(const std::string& end, std::initializer_list<const char*> texts) {
  auto parts = Json::array();
  for (const char* text : texts) {
    parts.push_back({{"Sequence", {{"id", text}, {"type_id", 0}}}});
    parts.push_back({{"SpecialToken", {{"id", end}, {"type_id", 0}}}});
  }
  return parts;
}

}  // namespace

void check_unigram_settings(const PieceNumbering& numbering) {
  if (!text_settings(numbering.model).usual)
    invalid(
        "this run's SentencePiece model treats spaces or unknown characters in its own way, and T5 has the "
        "defaults of SentencePiece alone");
}

std::string unigram_tokenizer_json(const PieceNumbering& numbering) {
  sentencepiece::SentencePieceProcessor processor;
  if (!processor.LoadFromSerializedProto(numbering.model).ok())
    invalid("this run's SentencePiece model is damaged");
  auto pieces = Json::array(), special = Json::array();
  for (int n = 0; n < processor.GetPieceSize(); ++n)
    pieces.push_back({processor.IdToPiece(n), processor.GetScore(n)});
  const std::set<std::string> added(numbering.added.begin(), numbering.added.end());
  for (size_t n = 0; n < numbering.pieces.size(); ++n) {
    const auto token = static_cast<Token>(n);
    const std::string& piece = numbering.pieces[n];
    if (token == numbering.unknown || token == numbering.begin || token == numbering.end ||
        added.contains(piece)) {
      special.push_back({{"id", n},
                         {"content", piece},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
  }
  const std::string& end = numbering.pieces[static_cast<size_t>(numbering.end)];
  const Json spaces = {
      {"type", "Metaspace"}, {"replacement", kWordBegin}, {"prepend_scheme", "always"}, {"split", true}};
  Json normalizer = nullptr;
  if (const auto charsmap = text_settings(numbering.model).charsmap; !charsmap.empty())
    normalizer = {{"type", "Precompiled"}, {"precompiled_charsmap", base64(charsmap)}};
  const Json tokenizer = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", special},
      {"normalizer", normalizer},
      {"pre_tokenizer",
       {{"type", "Sequence"}, {"pretokenizers", Json::array({{{"type", "WhitespaceSplit"}}, spaces})}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", template_of(end, {"A"})},
        {"pair", template_of(end, {"A", "B"})},
        {"special_tokens",
         {{end, {{"id", end}, {"ids", Json::array({numbering.end})}, {"tokens", Json::array({end})}}}}}}},
      {"decoder", spaces},
      {"model",
       {{"type", "Unigram"}, {"unk_id", numbering.unknown}, {"vocab", pieces}, {"byte_fallback", false}}}};
  return tokenizer.dump() + "\n";
}

PieceNumbering unigram_numbering(TokenizerSettings& settings, int64_t size, IgnoredSettings& ignored) {
  check_words(settings);
  ForeignConfig model = settings.model("Unigram");
  model.expect("byte_fallback", false);
  const auto pieces = scored_pieces(model, size);
  const int64_t unknown = model.integer("unk_id", {0, static_cast<int64_t>(pieces.size()) - 1});
  model.check_all_read(ignored);
  const auto added = numbered_added(settings.tokenizer, size);

  PieceNumbering numbering{.unknown = static_cast<Token>(unknown)};
  for (const ScoredPiece& piece : pieces) numbering.pieces.push_back(piece.text);
  if (!added.empty())
    numbering.pieces.resize(
        std::max(numbering.pieces.size(), static_cast<size_t>(added.rbegin()->first) + 1));
  // <extra_id_…> at the end were added, though the list of pieces may have them.
  size_t own = pieces.size();
  while (own > 0 && added.contains(static_cast<int64_t>(own) - 1) &&
         pieces[own - 1].text.starts_with("<extra_id_"))
    --own;
  for (const auto& [number, text] : added) {
    numbering.pieces[static_cast<size_t>(number)] = text;
    if (number >= static_cast<int64_t>(own)) numbering.added.push_back(text);
  }
  numbering.model =
      sentencepiece_model(pieces, own, unknown, added, charsmap_of(settings.tokenizer.part("normalizer")));
  return numbering;
}

}  // namespace synthesizer
