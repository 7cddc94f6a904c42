#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace synthesizer {

/// Tokens that stand in a text as they are, before it is tokenized: "<|endoftext|>", "[MASK]".
using AddedTokens = std::vector<std::pair<std::string, Token>>;

/// Calls `text` with what lies between them (never empty) and `token` with each, in order. Of two that begin
/// at the same place the longer counts.
void split_at_added(std::string_view line, const AddedTokens& added,
                    const std::function<void(std::string_view)>& text,
                    const std::function<void(Token)>& token);

}  // namespace synthesizer
