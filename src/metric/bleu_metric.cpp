// BLEU's words: its signature, its line for people, and its entry in the registry.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "metric/bleu.h"
#include "metric/resampled.h"

namespace synthesizer {
namespace {

BleuOptions read_bleu_options(const MetricOptions& options) {
  BleuOptions result;
  result.tokenizer = bleu_tokenizer(options.at("tokenize"));
  result.lowercase = flag_of(options, "lowercase");
  result.smoothing = bleu_smoothing(options.at("smooth"));
  result.effective_order = flag_of(options, "effective-order");
  if (!options.at("smooth-value").empty()) {
    if (!smoothing_value(result)) {
      invalid(fmt::format("option smooth-value belongs to smooth floor and add-k, and smooth is {}",
                          options.at("smooth")));
    }
    result.smoothing_value = number_of(options, "smooth-value");
  }
  return result;
}

MetricResult compute_bleu(const Segments& hypotheses, const References& references,
                          const MetricOptions& options) {
  const BleuOptions read_options = read_bleu_options(options);
  const Bleu result = bleu(hypotheses, references, read_options);
  const std::string signature = bleu_signature(read_options, references.size());
  const BleuCounts& counts = result.counts;
  auto list = [](const auto& values) { return std::vector(values.begin(), values.end()); };
  return {{{"bleu", result.score},
           {"signature", signature},
           {"precisions", list(result.precisions)},
           {"bp", result.brevity_penalty},
           {"ratio", result.ratio},
           {"hyp_len", counts.hypothesis_length},
           {"ref_len", counts.reference_length},
           {"counts", list(counts.matches)},
           {"totals", list(counts.totals)}},
          to_string(result) + "\n" + signature};
}

ResampledScores resample_bleu(const Segments& hypotheses, const References& references,
                              const MetricOptions& options) {
  const BleuOptions read_options = read_bleu_options(options);
  return {{"bleu", resampled_sum(bleu_counts(hypotheses, references, read_options),
                                 [=](const BleuCounts& sum) { return bleu_from(sum, read_options).score; })}};
}

}  // namespace

std::string bleu_signature(const BleuOptions& options, size_t references) {
  std::string smoothing = bleu_smoothing_names()[static_cast<size_t>(options.smoothing)];
  if (const auto value = smoothing_value(options)) smoothing += fmt::format("[{:.2f}]", *value);
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     name_of(options.tokenizer), smoothing, kSacrebleuVersion);
}

std::string to_string(const Bleu& bleu) {
  return fmt::format("BLEU = {:.2f} {:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     bleu.score, fmt::join(bleu.precisions, "/"), bleu.brevity_penalty, bleu.ratio,
                     bleu.counts.hypothesis_length, bleu.counts.reference_length);
}

Metric bleu_metric() {
  return {"bleu",
          "n-gram precision with a brevity penalty, as in sacreBLEU",
          "bleu",
          {{"tokenize", "tokenization into words", "13a", bleu_tokenizer_names()},
           {"lowercase", "ignore case", "false", {}, true},
           {"smooth", "smoothing of zero precisions", "exp", bleu_smoothing_names()},
           {"smooth-value", "value for floor (default: 0.1) and add-k (default: 1)", "", {}},
           {"effective-order", "leave out n-gram orders longer than the text", "false", {}, true}},
          compute_bleu,
          resample_bleu};
}

}  // namespace synthesizer
