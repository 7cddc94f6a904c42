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
      {"beam", &O::beam, Use::search, "hypotheses per sentence; 1: greedy", 1, kMostBeams},
      {"length_penalty", &O::length_penalty, Use::search, "0: none; larger favours longer outputs", -any,
       any},
      {"length_normalization", &O::length_normalization, Use::search,
       list_of(choices(LengthNormalization{}))},
      {"early_stopping", &O::early_stopping, Use::search,
       "a sentence is done when beam hypotheses are; otherwise when nothing better can come"},
      {"transformers_rules", &O::transformers_rules, Use::search,
       "beam search ends as in the package transformers"},
      {"forced_end", &O::forced_end, Use::search,
       "at the maximum length the end is written; otherwise an output is cut there"},
      {"renormalize", &O::renormalize, Use::search,
       "beam search: where tokens are forbidden, the others have the sum of probabilities 1"},
      {"min_length", &O::min_length, Use::search, "tokens of the output, at least", 0, any},
      {"no_repeat_ngram", &O::no_repeat_ngram, Use::search,
       "so many tokens in a row never occur twice in an output; 0: they may", 0, any},
      {"max_length", &O::max_length, Use::search,
       "tokens of the output, at most; 0: twice the source's and 20", 0, any},
      {"nbest", &O::nbest, Use::output, "the n best hypotheses of each line, at most beam", 1, any},
      {"temperature", &O::temperature, Use::sampling, "0: always the most likely token", 0, any},
      {"top_k", &O::top_k, Use::sampling, "only the k most likely; 0: all", 0, any},
      {"top_p", &O::top_p, Use::sampling, "the fewest that reach this probability", 0, 1},
      {"seed", &O::seed, Use::sampling, "another one gives another text", 0, any},
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
