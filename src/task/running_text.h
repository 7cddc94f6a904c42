#pragma once

#include <string>

#include "text/tokenizer.h"

namespace synthesizer {

/// A text of several lines to tokens: lines with the tokenizer's line end between them.
Tokens encode_text(const Tokenizer& tokenizer, const std::string& text);

/// The way back: line ends become line breaks.
std::string decode_text(const Tokenizer& tokenizer, const Tokens& tokens);

}  // namespace synthesizer
