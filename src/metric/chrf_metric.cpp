// chrF's words: its signature, its name, and its entry in the registry.

#include <fmt/format.h>

#include "metric/chrf.h"

namespace synthesizer {
namespace {

MetricResult compute(const Segments& hypotheses, const References& references, const MetricOptions& options) {
  ChrfOptions read;
  read.char_order = static_cast<int>(integer_of(options, "char-order", 1, 20));
  read.word_order = static_cast<int>(integer_of(options, "word-order", 0, 20));
  read.beta = static_cast<int>(integer_of(options, "beta", 1, 1000));
  read.lowercase = flag_of(options, "lowercase");
  read.whitespace = flag_of(options, "whitespace");
  const double score = chrf(hypotheses, references, read);
  const std::string signature = chrf_signature(read, references.size());
  return {{{"chrf", score}, {"signature", signature}},
          fmt::format("{} = {:.2f}\n{}", chrf_name(read), score, signature)};
}

}  // namespace

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|nc:{}|nw:{}|space:{}|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.eps_smoothing ? "no" : "yes",
                     options.char_order, options.word_order, options.whitespace ? "yes" : "no",
                     kSacrebleuVersion);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(static_cast<size_t>(options.word_order), '+'));
}

Metric chrf_metric() {
  return {"chrf",
          "F-score of character n-grams, as sacreBLEU; with word-order 2 it is chrF++",
          "chrf",
          {{"char-order", "longest n-gram of characters", "6", {}},
           {"word-order", "longest n-gram of words", "0", {}},
           {"beta", "weight of recall", "2", {}},
           {"lowercase", "capitals count as small letters", "false", {}, true},
           {"whitespace", "spaces count as characters", "false", {}, true}},
          compute};
}

}  // namespace synthesizer
