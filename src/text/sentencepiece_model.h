#pragma once

#include <string>
#include <string_view>

namespace synthesizer {

/// What a serialized SentencePiece model says of itself that the library has no question for.
struct SentencePieceModel {
  std::string kind = "unigram";  ///< or "bpe", "words", "characters"
  bool valid = true;             ///< its tables of characters can be followed; see charsmap.h
};

SentencePieceModel inspect_sentencepiece_model(std::string_view serialized);

}  // namespace synthesizer
