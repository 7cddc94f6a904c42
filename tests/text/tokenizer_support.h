// Tokenizers in one line, and what they say of mistakes.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"

namespace synthesizer::testing {

using Lines = std::vector<std::string>;

inline LineSource source(Lines lines) {
  return [lines = std::move(lines)](const auto& visit) {
    for (const auto& line : lines) visit(line);
  };
}

inline std::unique_ptr<Tokenizer> make(const std::string& kind, int64_t vocabulary, Lines lines) {
  return train_tokenizer({.kind = choose<TokenizerKind>("data.tokenizer", kind), .vocabulary = vocabulary},
                         source(std::move(lines)));
}

/// What a call that must fail says.
template <typename Call>
std::string message(Call call) {
  try {
    call();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

inline std::string parse_message(const std::string& contents) {
  return message([&] { parse_tokenizer(contents, "t.model"); });
}

}  // namespace synthesizer::testing
