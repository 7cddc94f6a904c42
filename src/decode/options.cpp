#include "decode/options.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/range.h"

namespace synthesizer {
namespace {

constexpr int64_t kMostBeams = 1024;  // with more, even one sentence is a batch larger than any that helps

/// Whether one value is in its range.
struct RangeCheck {
  const DecodeOptions& options;
  const DecodeOption& option;

  void operator()(int64_t DecodeOptions::*member) const {
    const auto least = static_cast<int64_t>(option.least);
    if (std::isinf(option.most)) return check_at_least(option.key(), options.*member, least);
    check_between(option.key(), options.*member, least, static_cast<int64_t>(option.most));
  }
  void operator()(double DecodeOptions::*member) const {
    check_real(option.key(), options.*member, option.least, option.most);
  }
  template <typename Any>
  void operator()(Any DecodeOptions::*) const {}
};

}  // namespace

const std::vector<DecodeOption>& decode_option_list() {
  using O = DecodeOptions;
  using Use = DecodeOption::Use;
  constexpr double any = std::numeric_limits<double>::infinity();
  static const std::vector<DecodeOption> all = {
      {"beam", &O::beam, Use::search, "number of hypotheses per sentence; 1: greedy search", 1, kMostBeams},
      {"length_penalty", &O::length_penalty, Use::search,
       "exponent of the length normalization; larger values favour longer outputs; 0: none", -any, any},
      {"length_normalization", &O::length_normalization, Use::search,
       list_of(choices(LengthNormalization{}))},
      {"early_stopping", &O::early_stopping, Use::search,
       "stop when the number of finished hypotheses reaches beam; otherwise when no better one is possible"},
      {"transformers_rules", &O::transformers_rules, Use::search,
       "end beam search by the rules of the package transformers"},
      {"forced_end", &O::forced_end, Use::search,
       "add an end token at the maximum length; otherwise cut the output there"},
      {"renormalize", &O::renormalize, Use::search,
       "beam search: renormalize the remaining probabilities where tokens are forbidden"},
      {"min_length", &O::min_length, Use::search, "minimum output length in tokens", 0, any},
      {"no_repeat_ngram", &O::no_repeat_ngram, Use::search,
       "no n-gram of this size occurs twice in an output; 0: off", 0, any},
      {"max_length", &O::max_length, Use::search,
       "maximum output length in tokens; 0: twice the source length plus 20", 0, any},
      {"nbest", &O::nbest, Use::output, "number of hypotheses printed per line, at most beam", 1, any},
      {"temperature", &O::temperature, Use::sampling, "sampling temperature; 0: always the most likely token",
       0, any},
      {"top_k", &O::top_k, Use::sampling, "sample from the k most likely tokens; 0: all", 0, any},
      {"top_p", &O::top_p, Use::sampling,
       "sample from the smallest set of tokens with at least this total probability", 0, 1},
      {"seed", &O::seed, Use::sampling, "random seed", 0, any},
  };
  return all;
}

void check(const DecodeOptions& o) {
  for (const DecodeOption& option : decode_option_list()) std::visit(RangeCheck{o, option}, option.member);
  if (o.max_length > 0 && o.max_length < o.min_length) {
    invalid(fmt::format("decode.max_length is {}: it must be 0 or at least decode.min_length, {}",
                        o.max_length, o.min_length));
  }
  if (o.nbest > o.beam) {
    invalid(fmt::format("decode.nbest is {}: it must be at most decode.beam, {}", o.nbest, o.beam));
  }
}

}  // namespace synthesizer
