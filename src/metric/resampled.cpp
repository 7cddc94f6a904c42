#include "metric/resampled.h"

namespace synthesizer {
namespace {

class ResampledMean : public Resampled {
 public:
  explicit ResampledMean(std::vector<double> values) : values_(std::move(values)) {}

  size_t segments() const override { return values_.size(); }
  double score(std::span<const uint32_t> drawn) const override {
    double sum = 0;
    for (const uint32_t segment : drawn) sum += values_[segment];
    return sum / static_cast<double>(drawn.size());
  }

 private:
  std::vector<double> values_;
};

}  // namespace

ResampledScore resampled_mean(std::vector<double> values) {
  return std::make_shared<ResampledMean>(std::move(values));
}

ResampledScore resampled_likelihood(std::vector<Likelihood> segments, double (Likelihood::*value)() const) {
  return resampled_sum(std::move(segments), [value](const Likelihood& sum) { return (sum.*value)(); });
}

ResampledScores resampled(const Metric& metric, const Segments& hypotheses, const References& references,
                          const MetricOptions& options) {
  const MetricOptions all = complete(metric, options);
  check_segments(hypotheses, references);
  return metric.resample ? metric.resample(hypotheses, references, all) : ResampledScores{};
}

}  // namespace synthesizer
