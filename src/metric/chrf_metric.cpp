// chrF's words: its signature, its name, and its entry in the registry.

#include <fmt/format.h>

#include "metric/chrf.h"
#include "metric/resampled.h"

namespace synthesizer {
namespace {

ChrfOptions read_chrf_options(const MetricOptions& options) {
  ChrfOptions result;
  result.char_order = static_cast<int>(integer_of(options, "char-order", 1, 20));
  result.word_order = static_cast<int>(integer_of(options, "word-order", 0, 20));
  result.beta = static_cast<int>(integer_of(options, "beta", 1, 1000));
  result.lowercase = flag_of(options, "lowercase");
  result.whitespace = flag_of(options, "whitespace");
  return result;
}

MetricResult compute_chrf(const Segments& hypotheses, const References& references,
                          const MetricOptions& options) {
  const ChrfOptions read_options = read_chrf_options(options);
  const double score = chrf(hypotheses, references, read_options);
  const std::string signature = chrf_signature(read_options, references.size());
  return {{{"chrf", score}, {"signature", signature}},
          fmt::format("{} = {:.2f}\n{}", chrf_name(read_options), score, signature)};
}

ResampledScores resample_chrf(const Segments& hypotheses, const References& references,
                              const MetricOptions& options) {
  const ChrfOptions read_options = read_chrf_options(options);
  return {{"chrf", resampled_sum(chrf_counts(hypotheses, references, read_options),
                                 [=](const ChrfCounts& sum) { return chrf_from(sum, read_options); })}};
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
          "F-score of character n-grams, as in sacreBLEU; with word-order 2 it is chrF++",
          "chrf",
          {{"char-order", "maximum order of character n-grams", "6", {}},
           {"word-order", "maximum order of word n-grams", "0", {}},
           {"beta", "weight of recall", "2", {}},
           {"lowercase", "ignore case", "false", {}, true},
           {"whitespace", "count spaces as characters", "false", {}, true}},
          compute_chrf,
          resample_chrf};
}

}  // namespace synthesizer
