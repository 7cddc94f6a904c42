#include "metric/meteor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "metric/porter_stemmer.h"
#include "metric/resampled.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

struct PlacedWord {
  std::string text;
  size_t place;
};
using PlacedWords = std::vector<PlacedWord>;

PlacedWords placed_words(const std::string& text) {
  PlacedWords words;
  for (const std::string_view word : unicode::split(text)) {
    words.push_back({unicode::lowercase(word), words.size()});
  }
  return words;
}

/// Takes aligned words away and remembers which, one stage after another.
class Alignment {
 public:
  Alignment(PlacedWords hypothesis, PlacedWords reference)
      : hypothesis_(std::move(hypothesis)), reference_(std::move(reference)) {}

  void stem() {
    for (PlacedWords* words : {&hypothesis_, &reference_}) {
      for (PlacedWord& word : *words) word.text = porter_stem(word.text);
    }
  }

  /// Each word of the hypothesis, last first, with the last word of the reference among its equivalents.
  template <class Equivalents>
  void match(const Equivalents& equivalents) {
    std::unordered_map<std::string_view, std::vector<size_t>> places;  // in reference_, ascending
    for (size_t j = 0; j < reference_.size(); ++j) places[reference_[j].text].push_back(j);
    std::vector<bool> taken(reference_.size());
    PlacedWords rest;
    for (size_t i = hypothesis_.size(); i-- > 0;) {
      std::vector<size_t>* best = nullptr;
      for (const std::string_view other : equivalents(hypothesis_[i].text)) {
        const auto found = places.find(other);
        if (found == places.end() || found->second.empty()) continue;
        if (best == nullptr || found->second.back() > best->back()) best = &found->second;
      }
      if (best == nullptr) {
        rest.push_back(std::move(hypothesis_[i]));
        continue;
      }
      pairs_.emplace_back(hypothesis_[i].place, reference_[best->back()].place);
      taken[best->back()] = true;
      best->pop_back();
    }
    std::reverse(rest.begin(), rest.end());
    hypothesis_ = std::move(rest);
    PlacedWords left;
    for (size_t j = 0; j < reference_.size(); ++j) {
      if (!taken[j]) left.push_back(std::move(reference_[j]));
    }
    reference_ = std::move(left);
  }

  size_t matches() const { return pairs_.size(); }

  /// Runs of words that stand side by side in both texts.
  size_t chunks() {
    std::sort(pairs_.begin(), pairs_.end());
    size_t count = 1;
    for (size_t i = 1; i < pairs_.size(); ++i) {
      const std::pair beside(pairs_[i - 1].first + 1, pairs_[i - 1].second + 1);
      count += pairs_[i] != beside;
    }
    return count;
  }

 private:
  PlacedWords hypothesis_, reference_;            // not aligned so far
  std::vector<std::pair<size_t, size_t>> pairs_;  // places in both
};

/// Looks a word up once.
class Synonyms {
 public:
  explicit Synonyms(const WordNet& wordnet) : wordnet_(wordnet) {}

  /// The word itself among them.
  std::vector<std::string_view> operator()(const std::string& word) {
    auto [found, added] = known_.try_emplace(word);
    if (added) found->second = wordnet_.synonyms(word);
    auto all = found->second;
    all.push_back(word);
    return all;
  }

 private:
  const WordNet& wordnet_;
  std::unordered_map<std::string, std::vector<std::string_view>> known_;
};

double segment_score(const PlacedWords& hypothesis, const PlacedWords& reference, Synonyms& synonyms) {
  constexpr double kAlpha = 0.9, kBeta = 3, kGamma = 0.5;
  Alignment alignment(hypothesis, reference);
  const auto itself = [](const std::string& word) { return std::array{std::string_view(word)}; };
  alignment.match(itself);
  alignment.stem();
  alignment.match(itself);
  alignment.match([&](const std::string& word) { return synonyms(word); });
  if (alignment.matches() == 0) return 0;
  const auto matches = static_cast<double>(alignment.matches());
  const double precision = matches / static_cast<double>(hypothesis.size());
  const double recall = matches / static_cast<double>(reference.size());
  const double mean = precision * recall / (kAlpha * precision + (1 - kAlpha) * recall);
  const double fragmentation = static_cast<double>(alignment.chunks()) / matches;
  return (1 - kGamma * std::pow(fragmentation, kBeta)) * mean;
}

MetricResult compute_meteor(const Segments& hypotheses, const References& references,
                            const MetricOptions& options) {
  return with_text({{"meteor", meteor(hypotheses, references, WordNet(options.at("wordnet")))}});
}

ResampledScores resample_meteor(const Segments& hypotheses, const References& references,
                                const MetricOptions& options) {
  return {{"meteor", resampled_mean(segment_meteor(hypotheses, references, WordNet(options.at("wordnet"))))}};
}

}  // namespace

std::vector<double> segment_meteor(const Segments& hypotheses, const References& references,
                                   const WordNet& wordnet) {
  check_segments(hypotheses, references);
  Synonyms synonyms(wordnet);
  std::vector<double> scores;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const PlacedWords hypothesis = placed_words(hypotheses[i]);
    double best = 0;
    for (const Segments& set : references) {
      best = std::max(best, segment_score(hypothesis, placed_words(set[i]), synonyms));
    }
    scores.push_back(100 * best);
  }
  return scores;
}

double meteor(const Segments& hypotheses, const References& references, const WordNet& wordnet) {
  const auto scores = segment_meteor(hypotheses, references, wordnet);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

Metric meteor_metric() {
  return {"meteor",
          "matches of words, stems and synonyms, as in NLTK; needs WordNet",
          "meteor",
          {{"wordnet", "folder of WordNet's files (Debian: wordnet-base)", WordNet::kDebianFolder, {}}},
          compute_meteor,
          resample_meteor};
}

}  // namespace synthesizer
