#pragma once

#include "inspect/inspection.h"

namespace synthesizer {

/// Means over several texts of what every head does.
class Statistics {
 public:
  /// What was seen with one text; the same layers every time.
  void add(const std::vector<CapturedLayer>& layers);

  int64_t texts() const { return texts_; }
  /// Of layer `n` of those that were added.
  std::vector<HeadStatistics> numbers(size_t n) const;
  const WeightHistogram& histogram(size_t n) const { return histograms_[n]; }
  /// Pairs of heads of one stack that are near-identical, the most alike first.
  std::vector<HeadPair> identical() const;

 private:
  struct Pair {
    HeadPair heads;
    HeadDifference difference;
  };
  void make_room(const std::vector<CapturedLayer>& layers);

  int64_t texts_ = 0;
  std::vector<std::vector<HeadSums>> sums_;  ///< layer, head
  std::vector<WeightHistogram> histograms_;
  std::vector<Pair> pairs_;
};

}  // namespace synthesizer
