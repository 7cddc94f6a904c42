#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

#include "base/error.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// The first tokens of every vocabulary made here, SentencePiece's names and order.
inline constexpr Token kUnknown = 0, kBegin = 1, kEnd = 2;
inline constexpr std::array<const char*, 3> kSpecialNames = {"<unk>", "<s>", "</s>"};
inline constexpr Token kSpecials = kSpecialNames.size();

/// Below 0 stands padding, which no vocabulary holds.
inline void check_token(Token token, int64_t size) {
  if (token >= size) invalid(fmt::format("token {} is not in the vocabulary of {}", token, size));
}

}  // namespace synthesizer
