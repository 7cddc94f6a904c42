#include "text/sentencepiece_model.h"

#include <algorithm>
#include <iterator>

#include "text/charsmap.h"
#include "text/protobuf_reader.h"
#include "text/tokenizer.h"

namespace synthesizer {
namespace {

// Numbers of fields in sentencepiece_model.proto, and the values of model_type from 1.
namespace model {
constexpr uint64_t kTrainerSpec = 2, kNormalizerSpec = 3, kDenormalizerSpec = 5;
}
namespace trainer_spec {
constexpr uint64_t kModelType = 3;
constexpr TokenizerKind kTypes[] = {TokenizerKind::unigram, TokenizerKind::bpe, TokenizerKind::words,
                                    TokenizerKind::characters};
}  // namespace trainer_spec
namespace normalizer_spec {
constexpr uint64_t kCharsmap = 2;
}

}  // namespace

SentencePieceModel inspect_sentencepiece_model(std::string_view serialized) {
  SentencePieceModel result;
  for (ProtobufReader fields(serialized); const auto field = fields.next();) {
    ProtobufReader settings(field->bytes);
    if (field->number == model::kTrainerSpec) {
      while (const auto setting = settings.next()) {
        if (setting->number != trainer_spec::kModelType) continue;
        const uint64_t types = std::size(trainer_spec::kTypes);
        result.kind = choice_name(trainer_spec::kTypes[std::clamp<uint64_t>(setting->value, 1, types) - 1]);
      }
    } else if (field->number == model::kNormalizerSpec || field->number == model::kDenormalizerSpec) {
      while (const auto setting = settings.next()) {
        if (setting->number != normalizer_spec::kCharsmap) continue;
        result.valid = result.valid && charsmap_is_valid(setting->bytes);
      }
    }
  }
  return result;
}

}  // namespace synthesizer
