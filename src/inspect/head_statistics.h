#pragma once

#include <array>
#include <map>
#include <vector>

#include "inspect/weight_map.h"

namespace synthesizer {

/// Statistics of one head: means over the captured rows. Rows with a single visible column are left out,
/// except for the distance.
struct HeadStatistics {
  double entropy = 0;        ///< of a row's weights, in nats
  double entropy_share = 0;  ///< of the highest there can be, the log of the columns it sees
  double distance = 0;       ///< Σ_j w_ij |i - j|, in tokens
  int64_t offset = 0;        ///< the diagonal j = i + offset that gets most
  double diagonal = 0;       ///< the weight it gets, over the rows that reach it

  bool near_uniform() const { return entropy_share >= 0.95; }
  bool near_diagonal() const { return !near_uniform() && diagonal >= 0.5; }
};

/// Adds up what HeadStatistics are the means of.
class HeadSums {
 public:
  void add(const WeightMap& map);
  HeadStatistics mean() const;

 private:
  struct Diagonal {
    double weight = 0;
    int64_t rows = 0;
  };
  double entropy_ = 0, share_ = 0, distance_ = 0;
  int64_t rows_ = 0, choosing_ = 0;
  std::map<int64_t, Diagonal> diagonals_;
};

/// How different two heads are: half of Σ_j |a_ij - b_ij|, the share of its weight that a row would have to
/// move, as a mean over rows that see more than one column; from 0 to 1. Rows and columns must be alike.
class HeadDifference {
 public:
  void add(const WeightMap& a, const WeightMap& b);
  double mean() const { return rows_ > 0 ? sum_ / static_cast<double>(rows_) : 1; }
  bool near_identical() const { return rows_ > 0 && mean() <= 0.05; }

 private:
  double sum_ = 0;
  int64_t rows_ = 0;
};

/// How many weights there are of each size, ten bins a decade from 1e-5 to 1; smaller ones are in the first.
struct WeightHistogram {
  static constexpr size_t kBins = 50;
  static constexpr double kLowest = 1e-5;
  std::array<int64_t, kBins> counts{};

  void add(const WeightMap& map);  ///< what its rows see
  int64_t total() const;
  static std::vector<double> edges();  ///< kBins + 1
};

}  // namespace synthesizer
