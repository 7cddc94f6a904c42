#include "inspect/statistics.h"

#include <algorithm>

namespace synthesizer {

void Statistics::make_room(const std::vector<CapturedLayer>& layers) {
  for (const CapturedLayer& layer : layers) sums_.emplace_back(layer.heads.size());
  histograms_.resize(layers.size());
  for (size_t a = 0; a < layers.size(); ++a) {
    for (size_t b = a; b < layers.size(); ++b) {
      if (layers[a].stack != layers[b].stack) continue;
      for (size_t i = 0; i < layers[a].heads.size(); ++i) {
        for (size_t j = a == b ? i + 1 : 0; j < layers[b].heads.size(); ++j)
          pairs_.push_back({{a, i, b, j, 0}, {}});
      }
    }
  }
}

void Statistics::add(const std::vector<CapturedLayer>& layers) {
  if (texts_++ == 0) make_room(layers);
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t h = 0; h < layers[n].heads.size(); ++h) {
      sums_[n][h].add(layers[n].heads[h]);
      histograms_[n].add(layers[n].heads[h]);
    }
  }
  for (Pair& pair : pairs_) {
    const HeadPair& of = pair.heads;
    pair.difference.add(layers[of.first_layer].heads[of.first_head],
                        layers[of.second_layer].heads[of.second_head]);
  }
}

std::vector<HeadStatistics> Statistics::numbers(size_t n) const {
  std::vector<HeadStatistics> numbers;
  for (const HeadSums& sums : sums_[n]) numbers.push_back(sums.mean());
  return numbers;
}

std::vector<HeadPair> Statistics::identical() const {
  std::vector<HeadPair> found;
  for (const Pair& pair : pairs_) {
    if (!pair.difference.near_identical()) continue;
    found.push_back(pair.heads);
    found.back().difference = pair.difference.mean();
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const HeadPair& a, const HeadPair& b) { return a.difference < b.difference; });
  return found;
}

}  // namespace synthesizer
