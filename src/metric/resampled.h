#pragma once

#include <span>
#include <utility>

#include "metric/metric.h"
#include "metric/perplexity.h"

namespace synthesizer {

/// A corpus score as a function of the segments that the corpus has, so that it can be taken again for every
/// resample of them (bootstrap.h). What is slow (counting words) was done once, when it was made.
class Resampled {
 public:
  virtual ~Resampled() = default;
  virtual size_t segments() const = 0;
  /// The score of a corpus of these segments, each as often as it is named.
  virtual double score(std::span<const uint32_t> drawn) const = 0;
};

/// Scores that depend on a sum over the segments alone: BLEU's counts, a mean's numbers, a likelihood.
/// Counts{} is nothing, `+=` adds, and `score` makes a number of the sum.
template <class Counts, class Score>
class ResampledSum : public Resampled {
 public:
  ResampledSum(std::vector<Counts> counts, Score score) : counts_(std::move(counts)), score_(score) {}

  size_t segments() const override { return counts_.size(); }
  double score(std::span<const uint32_t> drawn) const override {
    Counts sum{};
    for (const uint32_t segment : drawn) sum += counts_[segment];
    return score_(sum);
  }

 private:
  std::vector<Counts> counts_;
  Score score_;
};

template <class Counts, class Score>
ResampledScore resampled_sum(std::vector<Counts> counts, Score score) {
  return std::make_shared<ResampledSum<Counts, Score>>(std::move(counts), score);
}

/// The mean of a value per segment: ROUGE, exact match, a loss where segments count alike.
ResampledScore resampled_mean(std::vector<double> values);

/// One member of a vector of segments' scores.
template <class Segment, class Value>
ResampledScore resampled_mean(const std::vector<Segment>& segments, const Value& value) {
  std::vector<double> values;
  values.reserve(segments.size());
  for (const Segment& segment : segments) values.push_back(value(segment));
  return resampled_mean(std::move(values));
}

/// A loss or perplexity of texts of different lengths: `resampled_likelihood(texts, &Likelihood::loss)`.
ResampledScore resampled_likelihood(std::vector<Likelihood> segments, double (Likelihood::*value)() const);

/// All scores of a metric with these options, under the keys and with the checks of score(); empty where the
/// metric has none that can be resampled.
ResampledScores resampled(const Metric& metric, const Segments& hypotheses, const References& references,
                          const MetricOptions& options = {});

}  // namespace synthesizer
