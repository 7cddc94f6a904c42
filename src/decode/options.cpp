#include "decode/options.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/nearest.h"

namespace synthesizer {
namespace {

void at_least(const char* key, int64_t value, int64_t least) {
  if (value < least) invalid(fmt::format("decode.{} is {}: it must be at least {}", key, value, least));
}

}  // namespace

void check(const DecodeOptions& o) {
  at_least("beam", o.beam, 1);
  if (!std::isfinite(o.length_penalty)) {
    invalid(fmt::format("decode.length_penalty is {}: it must be a finite number", o.length_penalty));
  }
  if (o.length_normalization != "power" && o.length_normalization != "gnmt") {
    invalid(fmt::format("decode.length_normalization is '{}': it must be 'power' or 'gnmt'{}",
                        o.length_normalization, did_you_mean(o.length_normalization, {"power", "gnmt"})));
  }
  at_least("min_length", o.min_length, 0);
  at_least("max_length", o.max_length, 0);
  if (o.max_length > 0 && o.max_length < o.min_length) {
    invalid(fmt::format("decode.max_length is {}: it must be 0 or at least decode.min_length, {}",
                        o.max_length, o.min_length));
  }
  at_least("nbest", o.nbest, 1);
  if (o.nbest > o.beam) {
    invalid(fmt::format("decode.nbest is {}: it must be at most decode.beam, {}", o.nbest, o.beam));
  }
  if (!(o.temperature >= 0 && std::isfinite(o.temperature))) {
    invalid(fmt::format("decode.temperature is {}: it must be a finite number of at least 0", o.temperature));
  }
  at_least("top_k", o.top_k, 0);
  if (!(o.top_p >= 0 && o.top_p <= 1)) {
    invalid(fmt::format("decode.top_p is {}: it must be between 0 and 1", o.top_p));
  }
}

}  // namespace synthesizer
