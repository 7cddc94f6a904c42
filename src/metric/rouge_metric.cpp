// ROUGE's words: its lines for people, and its entry in the registry.

#include <fmt/format.h>

#include "metric/resampled.h"
#include "metric/rouge.h"

namespace synthesizer {
namespace {

MetricResult compute_rouge(const Segments& hypotheses, const References& references,
                           const MetricOptions& options) {
  const Rouge found = rouge(hypotheses, references, {flag_of(options, "stem")});
  const std::pair<std::string, RougeScore> scores[] = {{"rouge1", found.rouge1},
                                                       {"rouge2", found.rouge2},
                                                       {"rougeL", found.rouge_l},
                                                       {"rougeLsum", found.rouge_lsum}};
  MetricResult result;
  for (const auto& [name, score] : scores) {
    result.values.insert(
        result.values.end(),
        {{name, score.f}, {name + "_precision", score.precision}, {name + "_recall", score.recall}});
    result.text += fmt::format("{}{} = {:.2f} (precision {:.2f}, recall {:.2f})",
                               result.text.empty() ? "" : "\n", name, score.f, score.precision, score.recall);
  }
  return result;
}

ResampledScores resample_rouge(const Segments& hypotheses, const References& references,
                               const MetricOptions& options) {
  const auto segments = segment_rouge(hypotheses, references, {flag_of(options, "stem")});
  auto mean_of = [&](RougeScore Rouge::*kind) {
    return resampled_mean(segments, [kind](const Rouge& segment) { return (segment.*kind).f; });
  };
  return {{"rouge1", mean_of(&Rouge::rouge1)},
          {"rouge2", mean_of(&Rouge::rouge2)},
          {"rougeL", mean_of(&Rouge::rouge_l)},
          {"rougeLsum", mean_of(&Rouge::rouge_lsum)}};
}

}  // namespace

Metric rouge_metric() {
  return {
      "rouge",       "common words, word pairs and subsequences, as in rouge-score; <n> separates sentences",
      "rougeL",      {{"stem", "compare the stems of words", "false", {}, true}},
      compute_rouge, resample_rouge};
}

}  // namespace synthesizer
