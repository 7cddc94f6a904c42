#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "base/error.h"

namespace synthesizer {

/// What every tokenizer says where the text and the vocabulary asked for don't fit.
[[noreturn]] inline void vocabulary_too_large(int64_t asked, int64_t most) {
  invalid(fmt::format(
      "data.vocabulary is {}, but this text can give at most {} pieces: set data.vocabulary to {} or less",
      asked, most, most));
}

[[noreturn]] inline void vocabulary_too_small(int64_t asked, int64_t least) {
  invalid(fmt::format(
      "data.vocabulary is {}, but this text needs at least {} pieces: set data.vocabulary to {} or more",
      asked, least, least));
}

[[noreturn]] inline void no_text() {
  invalid("the training text (data.train) is empty: there is nothing to make a tokenizer from");
}

}  // namespace synthesizer
