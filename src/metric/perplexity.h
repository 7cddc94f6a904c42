#pragma once

#include <cstdint>

namespace synthesizer {

/// How surprising a text was to a language model. Sums of it are sufficient for any set of texts. Means over
/// nothing are not a number; perplexities too large for a double are infinite.
struct Likelihood {
  double nll = 0;  ///< minus the logarithm of the text's probability, in nats, summed
  int64_t tokens = 0, words = 0, characters = 0;

  Likelihood& operator+=(const Likelihood& other);

  double loss() const;                ///< nats per token
  double perplexity() const;          ///< of tokens
  double word_perplexity() const;     ///< comparable whatever the tokens are
  double bits_per_character() const;  ///< likewise
};

}  // namespace synthesizer
