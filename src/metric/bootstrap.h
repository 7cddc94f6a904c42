#pragma once

#include <functional>
#include <optional>

#include "metric/resampled.h"

namespace synthesizer {

/// How far a score might have been another with other segments, and whether two systems differ by more than
/// that: paired bootstrap resampling (Koehn, 2004) as sacreBLEU 2.4.3 does it.
struct BootstrapOptions {
  int64_t resamples = 1000;
  uint64_t seed = 12345;
};

/// Fills in one resample after another: numbers of segments, drawn with replacement.
using Draw = std::function<void(std::span<uint32_t> segments)>;

/// Draws that depend on the seed alone, not on the machine. There are fewer than 2³² segments.
Draw random_draws(uint64_t seed);

struct BootstrapResult {
  double score = 0;               ///< of all segments, each once
  double mean = 0;                ///< over the resamples
  double low = 0, high = 0;       ///< 95 of 100 resamples lie between them
  std::optional<double> p_value;  ///< that the difference to the first system is chance; none for the first

  /// What sacreBLEU puts behind "±".
  double half_width() const { return (high - low) / 2; }
};

/// The same resamples for every system, each compared with the first.
///
///     p = (1 + #{ |difference in a resample| - mean of those > |difference| }) / (1 + resamples)
///
/// Throws InvalidInput where the systems differ in their segments, where there are none, and where resamples
/// is below 1.
std::vector<BootstrapResult> paired_bootstrap(const std::vector<ResampledScore>& systems,
                                              const BootstrapOptions& options = {});
/// With draws from elsewhere.
std::vector<BootstrapResult> paired_bootstrap(const std::vector<ResampledScore>& systems, int64_t resamples,
                                              const Draw& draw);

/// Of one system alone.
BootstrapResult bootstrap(const ResampledScore& system, const BootstrapOptions& options = {});

}  // namespace synthesizer
