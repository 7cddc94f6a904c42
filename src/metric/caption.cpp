#include "metric/caption.h"

#include <algorithm>
#include <cmath>

#include "metric/cider.h"
#include "metric/ngrams.h"
#include "metric/resampled.h"
#include "metric/subsequence.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

/// BLEU with the toolkit's own way round divisions by 0, which shows in the tenth digit.
std::array<double, kBleuOrder> caption_bleu(const BleuCounts& sum) {
  constexpr double kSmall = 1e-9, kTiny = 1e-15;
  const double ratio = (static_cast<double>(sum.hypothesis_length) + kTiny) /
                       (static_cast<double>(sum.reference_length) + kSmall);
  const double brevity = ratio < 1 ? std::exp(1 - 1 / ratio) : 1;
  std::array<double, kBleuOrder> scores{};
  double product = 1;
  for (int n = 0; n < kBleuOrder; ++n) {
    product *= (static_cast<double>(sum.matches[n]) + kTiny) / (static_cast<double>(sum.totals[n]) + kSmall);
    scores[n] = 100 * brevity * std::pow(product, 1.0 / (n + 1));
  }
  return scores;
}

std::vector<BleuCounts> caption_counts(const Segments& hypotheses, const References& references) {
  BleuOptions options;
  options.tokenizer = BleuTokenizer::none;
  return bleu_counts(hypotheses, references, options);
}

/// To the toolkit an empty text is one empty word.
std::vector<std::string_view> caption_words(const std::string& text) {
  auto words = unicode::split(text);
  if (words.empty()) words.emplace_back();
  return words;
}

/// The best precision and the best recall, be they of different references.
double rouge_l(const Segments& hypotheses, const References& references, size_t segment) {
  constexpr double kBeta = 1.2;
  WordNumbers numbers;
  const auto hypothesis = numbers.of(caption_words(hypotheses[segment]));
  double precision = 0, recall = 0;
  for (const Segments& set : references) {
    const auto reference = numbers.of(caption_words(set[segment]));
    const auto common = static_cast<double>(longest_common_subsequence(reference, hypothesis));
    precision = std::max(precision, common / static_cast<double>(hypothesis.size()));
    recall = std::max(recall, common / static_cast<double>(reference.size()));
  }
  if (precision == 0) return 0;
  return 100 * (1 + kBeta * kBeta) * precision * recall / (recall + kBeta * kBeta * precision);
}

MetricResult compute_caption(const Segments& hypotheses, const References& references, const MetricOptions&) {
  const Caption found = caption(hypotheses, references);
  return with_text({{"bleu1", found.bleu[0]},
                    {"bleu2", found.bleu[1]},
                    {"bleu3", found.bleu[2]},
                    {"bleu4", found.bleu[3]},
                    {"rougeL", found.rouge_l},
                    {"cider", found.cider}});
}

ResampledScores resample_caption(const Segments& hypotheses, const References& references,
                                 const MetricOptions&) {
  const auto counts = caption_counts(hypotheses, references);
  ResampledScores scores;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    scores.emplace_back("bleu" + std::to_string(n + 1),
                        resampled_sum(counts, [n](const BleuCounts& sum) { return caption_bleu(sum)[n]; }));
  }
  std::vector<double> rouge(hypotheses.size());
  for (size_t i = 0; i < rouge.size(); ++i) rouge[i] = rouge_l(hypotheses, references, i);
  scores.emplace_back("rougeL", resampled_mean(std::move(rouge)));
  scores.emplace_back("cider", resampled_mean(segment_cider(hypotheses, references)));
  return scores;
}

}  // namespace

Caption caption(const Segments& hypotheses, const References& references) {
  Caption result;
  BleuCounts sum;
  for (const BleuCounts& segment : caption_counts(hypotheses, references)) sum += segment;
  result.bleu = caption_bleu(sum);
  for (size_t i = 0; i < hypotheses.size(); ++i) result.rouge_l += rouge_l(hypotheses, references, i);
  result.rouge_l /= static_cast<double>(hypotheses.size());
  result.cider = cider(hypotheses, references);
  return result;
}

Metric caption_metric() {
  return {"caption",       "BLEU, ROUGE-L and CIDEr of tokenized captions, as in the COCO caption toolkit",
          "cider",         {},
          compute_caption, resample_caption};
}

}  // namespace synthesizer
