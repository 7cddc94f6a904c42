#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace synthesizer {

struct Dataset;

/// Tokens of a text, and how many of them stand for something the tokenizer has no token for. What is unknown
/// is all the same to a model: easy to predict, and impossible to read.
struct UnknownTokens {
  int64_t unknown = 0, tokens = 0;

  double percent() const {
    return tokens == 0 ? 0 : 100 * static_cast<double>(unknown) / static_cast<double>(tokens);
  }
};

/// Of all texts of a split; labels are no text.
UnknownTokens unknown_tokens(const Dataset& data);

/// What people should know before they trust scores: nothing up to 1%.
std::optional<std::string> unknown_warning(const Dataset& data, const UnknownTokens& found);

/// Of tokens of that tokenizer.
UnknownTokens count_unknown(const Tokenizer& tokenizer, const Tokens& tokens);

/// Of a prompt.
UnknownTokens unknown_tokens(const Tokenizer& tokenizer, const std::string& text);

}  // namespace synthesizer
