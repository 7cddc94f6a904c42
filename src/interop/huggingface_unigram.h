#pragma once

#include <string>

#include "text/numbered_pieces.h"

namespace synthesizer {

/// tokenizer.json of transformers for a SentencePiece model of the kind unigram, whose pieces have
/// SentencePiece's own numbers and added tokens stand behind them; texts end with the end token. It says
/// which token unknown text is, which transformers' class for T5 does not.
std::string unigram_tokenizer_json(const PieceNumbering& numbering);

/// Throws InvalidInput where the model treats spaces, or characters that have no piece, in a way that T5's
/// tokenizers do not.
void check_unigram_settings(const PieceNumbering& numbering);

}  // namespace synthesizer
