#pragma once

#include "fuzz/targets.h"
#include "text/tokenizer.h"

namespace synthesizer::fuzz {

/// Texts to tokens and back, as tasks do: tokens lie within the vocabulary, and every token can be shown.
inline void use_tokenizer(const Tokenizer& tokenizer) {
  const auto inside = [&](Token token) { return token >= 0 && token < tokenizer.size(); };
  if (!inside(tokenizer.begin()) || !inside(tokenizer.end())) fault("begin or end is not in the vocabulary");
  for (const char* text :
       {"", "a", "the cat  sat\xE2\x80\xA6 on \xC3\xA4\xF0\x9F\x98\x80", "\t\x01 ab ab <s></s>"}) {
    const Tokens tokens = tokenizer.encode(text);
    for (Token token : tokens) {
      if (!inside(token)) fault("a token that is not in the vocabulary");
    }
    tokenizer.decode(tokens);
  }
  for (Token token = 0; token < tokenizer.size() && token < 64; ++token) {
    tokenizer.piece(token);
    tokenizer.decode(Tokens{token});
  }
}

}  // namespace synthesizer::fuzz
