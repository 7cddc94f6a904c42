#include "interop/huggingface_unigram.h"

#include <sentencepiece_processor.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/base64.h"
#include "base/error.h"
#include "text/protobuf_reader.h"

namespace synthesizer {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of fields in sentencepiece_model.proto.
namespace proto {
constexpr uint64_t kTrainerSpec = 2, kNormalizerSpec = 3;
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
      {"type", "Metaspace"}, {"replacement", "\xE2\x96\x81"}, {"prepend_scheme", "always"}, {"split", true}};
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

}  // namespace synthesizer
