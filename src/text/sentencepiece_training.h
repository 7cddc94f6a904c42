#pragma once

#include <string>

#include "text/tokenizer.h"

namespace synthesizer {

/// Learns a SentencePiece model ("unigram" or "bpe") from every line and gives back its serialized form. The
/// same text and options give the same bytes on every machine. Throws InvalidInput as train_tokenizer does.
std::string train_sentencepiece(const TokenizerOptions& options, const LineSource& lines);

/// SentencePiece speaks on standard error by default; this program's users are told by exceptions instead.
void silence_sentencepiece();

}  // namespace synthesizer
