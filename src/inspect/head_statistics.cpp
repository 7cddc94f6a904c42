#include "inspect/head_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace synthesizer {

void HeadSums::add(const WeightMap& map) {
  std::vector<Diagonal> own(static_cast<size_t>(map.rows + map.columns));  // at j - i + rows
  for (int64_t i = 0; i < map.rows; ++i) {
    const int64_t seen = map.visible(i);
    double entropy = 0, distance = 0;
    for (int64_t j = 0; j < seen; ++j) {
      const double weight = map.at(i, j);
      if (weight > 0) entropy -= weight * std::log(weight);
      distance += weight * static_cast<double>(std::abs(i - j));
    }
    distance_ += distance;
    ++rows_;
    if (seen < 2) continue;
    entropy_ += entropy;
    share_ += entropy / std::log(static_cast<double>(seen));
    ++choosing_;
    for (int64_t j = 0; j < seen; ++j) {
      Diagonal& diagonal = own[static_cast<size_t>(j - i + map.rows)];
      diagonal.weight += map.at(i, j);
      ++diagonal.rows;
    }
  }
  for (size_t n = 0; n < own.size(); ++n) {
    if (own[n].rows == 0) continue;
    Diagonal& sum = diagonals_[static_cast<int64_t>(n) - map.rows];
    sum.weight += own[n].weight;
    sum.rows += own[n].rows;
  }
}

HeadStatistics HeadSums::mean() const {
  HeadStatistics numbers;
  if (rows_ > 0) numbers.distance = distance_ / static_cast<double>(rows_);
  if (choosing_ == 0) return numbers;
  numbers.entropy = entropy_ / static_cast<double>(choosing_);
  numbers.entropy_share = share_ / static_cast<double>(choosing_);
  for (const auto& [offset, diagonal] : diagonals_) {
    if (2 * diagonal.rows < choosing_) continue;  // a corner that few rows reach is no diagonal
    const double weight = diagonal.weight / static_cast<double>(diagonal.rows);
    if (weight <= numbers.diagonal) continue;
    numbers.diagonal = weight;
    numbers.offset = offset;
  }
  return numbers;
}

void HeadDifference::add(const WeightMap& a, const WeightMap& b) {
  for (int64_t i = 0; i < a.rows; ++i) {
    const int64_t seen = a.visible(i);
    if (seen < 2) continue;
    double moved = 0;
    for (int64_t j = 0; j < seen; ++j) moved += std::abs(a.at(i, j) - b.at(i, j));
    sum_ += moved / 2;
    ++rows_;
  }
}

void WeightHistogram::add(const WeightMap& map) {
  constexpr double kBinsADecade = 10;
  for (int64_t i = 0; i < map.rows; ++i) {
    for (int64_t j = 0; j < map.visible(i); ++j) {
      const double place = kBinsADecade * std::log10(std::max(map.at(i, j), kLowest) / kLowest);
      ++counts[std::min(static_cast<size_t>(place), kBins - 1)];
    }
  }
}

int64_t WeightHistogram::total() const {
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::vector<double> WeightHistogram::edges() {
  std::vector<double> edges;
  for (size_t n = 0; n <= kBins; ++n) edges.push_back(kLowest * std::pow(10, static_cast<double>(n) / 10));
  return edges;
}

}  // namespace synthesizer
