#include "decode/options.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/range.h"

namespace synthesizer {
void check(const DecodeOptions& o) {
  check_at_least("decode.beam", o.beam, 1);
  if (!std::isfinite(o.length_penalty)) {
    invalid(fmt::format("decode.length_penalty is {}: it must be a finite number", o.length_penalty));
  }
  check_one_of("decode.length_normalization", o.length_normalization, {"power", "gnmt"});
  check_at_least("decode.min_length", o.min_length, 0);
  check_at_least("decode.max_length", o.max_length, 0);
  if (o.max_length > 0 && o.max_length < o.min_length) {
    invalid(fmt::format("decode.max_length is {}: it must be 0 or at least decode.min_length, {}",
                        o.max_length, o.min_length));
  }
  check_at_least("decode.no_repeat_ngram", o.no_repeat_ngram, 0);
  check_at_least("decode.nbest", o.nbest, 1);
  if (o.nbest > o.beam) {
    invalid(fmt::format("decode.nbest is {}: it must be at most decode.beam, {}", o.nbest, o.beam));
  }
  check_not_negative("decode.temperature", o.temperature);
  check_at_least("decode.top_k", o.top_k, 0);
  if (!(o.top_p >= 0 && o.top_p <= 1)) {
    invalid(fmt::format("decode.top_p is {}: it must be between 0 and 1", o.top_p));
  }
}

}  // namespace synthesizer
