#pragma once

#include <string>

#include "interop/tokenizer_settings.h"
#include "text/numbered_pieces.h"

namespace synthesizer {

/// tokenizer.json of transformers for a SentencePiece model of the kind unigram, whose pieces have
/// SentencePiece's own numbers and added tokens stand behind them; texts end with the end token. It says
/// which token unknown text is, which transformers' class for T5 does not.
std::string unigram_tokenizer_json(const PieceNumbering& numbering);

/// The way back: a SentencePiece model with the pieces, scores and characters of a tokenizer.json, and the
/// tokens that were added behind its pieces. Begin, end and forbidden are not set, and numbers without a
/// token need not be there. `size`: tokens of the model. Throws InvalidInput where the tokenizer splits a
/// text in another way than SentencePiece.
PieceNumbering unigram_numbering(TokenizerSettings& settings, int64_t size, IgnoredSettings& ignored);

/// Throws InvalidInput where the model treats spaces, or characters that have no piece, in a way that T5's
/// tokenizers do not.
void check_unigram_settings(const PieceNumbering& numbering);

}  // namespace synthesizer
