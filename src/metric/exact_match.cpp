// The share of texts that are one of their references, letter by letter.

#include <algorithm>

#include "metric/exact_match.h"
#include "metric/resampled.h"

namespace synthesizer {
namespace {

/// 100 where the text is one of its references, else 0.
std::vector<double> exact_match_values(const Segments& hypotheses, const References& references) {
  std::vector<double> values;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const bool same = std::any_of(references.begin(), references.end(),
                                  [&](const Segments& set) { return set[i] == hypotheses[i]; });
    values.push_back(same ? 100 : 0);
  }
  return values;
}

MetricResult compute_exact_match(const Segments& hypotheses, const References& references,
                                 const MetricOptions&) {
  double sum = 0;
  for (const double value : exact_match_values(hypotheses, references)) sum += value;
  return with_text({{"exact_match", sum / static_cast<double>(hypotheses.size())}});
}

ResampledScores resample_exact_match(const Segments& hypotheses, const References& references,
                                     const MetricOptions&) {
  return {{"exact_match", resampled_mean(exact_match_values(hypotheses, references))}};
}

}  // namespace

Metric exact_match_metric() {
  return {"exact_match",       "share of texts that are identical to one of their references",
          "exact_match",       {},
          compute_exact_match, resample_exact_match};
}

}  // namespace synthesizer
