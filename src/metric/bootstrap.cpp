#include "metric/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/error.h"

namespace synthesizer {
namespace {

void check_systems(const std::vector<ResampledScore>& systems, int64_t resamples) {
  if (systems.empty() || systems.front()->segments() == 0)
    invalid("there is nothing to resample: no segments were given");
  if (resamples < 1) invalid(fmt::format("{} resamples: at least 1 is needed", resamples));
  for (size_t i = 1; i < systems.size(); ++i) {
    if (systems[i]->segments() == systems[0]->segments()) continue;
    invalid(fmt::format("system 1 has {} segments and system {} has {}: a paired test needs the same ones",
                        systems[0]->segments(), i + 1, systems[i]->segments()));
  }
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Every fortieth is left out on both sides. Scores that are no number count as the largest.
void set_interval(BootstrapResult& result, std::vector<double> scores) {
  result.mean = mean_of(scores);
  std::sort(scores.begin(), scores.end(),
            [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  const size_t out = scores.size() / 40;
  result.low = scores[out];
  result.high = scores[scores.size() - out - 1];
}

/// Differences in the resamples scatter round the one that is there; their mean taken off, they scatter round
/// none, and show how large a difference chance alone makes.
double p_value(const std::vector<double>& first, const std::vector<double>& other, double difference) {
  std::vector<double> differences(first.size());
  for (size_t i = 0; i < first.size(); ++i) differences[i] = std::abs(other[i] - first[i]);
  // No resample tells them apart, as where both score 0: nothing speaks for a difference.
  if (difference == 0 && std::all_of(differences.begin(), differences.end(), [](double d) { return d == 0; }))
    return 1;
  const double mean = mean_of(differences);
  const auto larger = std::count_if(differences.begin(), differences.end(),
                                    [&](double d) { return d - mean > std::abs(difference); });
  return static_cast<double>(larger + 1) / static_cast<double>(differences.size() + 1);
}

}  // namespace

Draw random_draws(uint64_t seed) {
  return [random = std::mt19937_64(seed)](std::span<uint32_t> segments) mutable {
    const uint64_t count = segments.size();
    // The upper half of a product with a number below 2³²: as even as makes no difference, and no division.
    for (uint32_t& segment : segments) segment = static_cast<uint32_t>(((random() >> 32) * count) >> 32);
  };
}

std::vector<BootstrapResult> paired_bootstrap(const std::vector<ResampledScore>& systems, int64_t resamples,
                                              const Draw& draw) {
  check_systems(systems, resamples);
  std::vector<uint32_t> drawn(systems.front()->segments());
  std::iota(drawn.begin(), drawn.end(), uint32_t{0});
  std::vector<BootstrapResult> results(systems.size());
  for (size_t s = 0; s < systems.size(); ++s) results[s].score = systems[s]->score(drawn);

  std::vector<std::vector<double>> scores(systems.size());
  for (int64_t i = 0; i < resamples; ++i) {
    draw(drawn);
    for (size_t s = 0; s < systems.size(); ++s) scores[s].push_back(systems[s]->score(drawn));
  }
  for (size_t s = 0; s < systems.size(); ++s) {
    set_interval(results[s], scores[s]);
    if (s > 0) results[s].p_value = p_value(scores[0], scores[s], results[s].score - results[0].score);
  }
  return results;
}

std::vector<BootstrapResult> paired_bootstrap(const std::vector<ResampledScore>& systems,
                                              const BootstrapOptions& options) {
  return paired_bootstrap(systems, options.resamples, random_draws(options.seed));
}

BootstrapResult bootstrap(const ResampledScore& system, const BootstrapOptions& options) {
  return paired_bootstrap({system}, options).front();
}

}  // namespace synthesizer
