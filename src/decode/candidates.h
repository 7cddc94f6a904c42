#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace synthesizer {

/// A token that may come next, with its log-probability or its logit.
struct Choice {
  int64_t token;
  double value;
};

/// The order of choices: the likelier first, of equal ones the lower id. No two of a row are equal in it, so
/// whatever is picked by it is the same everywhere.
inline bool better(const Choice& a, const Choice& b) {
  return a.value != b.value ? a.value > b.value : a.token < b.token;
}

/// Throws where a model's output cannot be a distribution: NaN, a logit of +infinity, or every logit
/// -infinity.
[[noreturn]] void throw_not_finite(int64_t row);

/// The logits as float32 log-probabilities, B×V. `end` must be one of the V tokens.
at::Tensor log_probabilities(const at::Tensor& logits, int64_t end);

/// Makes a token impossible, in place: `log_probabilities` or logits B×V. The others keep their values.
/// Nothing where the token is -1.
void forbid(const at::Tensor& log_probabilities, int64_t token);

/// Adds one number to each row, in place, so that the probabilities have the sum 1: those of the tokens that
/// are possible, without `left_out` (-1: with all of them). A row with none stays as it is.
void renormalize(const at::Tensor& log_probabilities, int64_t left_out);

/// The k best tokens of each row of log-probabilities, best first; those of probability 0 are left out, so
/// there may be fewer, even none. Throws std::runtime_error where a row is not a number.
std::vector<std::vector<Choice>> best_tokens(const at::Tensor& log_probabilities, int64_t k);

}  // namespace synthesizer
