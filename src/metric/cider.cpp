#include "metric/cider.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "metric/ngrams.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

constexpr int kOrder = 4;
constexpr double kSigma = 6;  // of the penalty on lengths that differ

/// The n-grams of a text, each once, in order of their numbers, and how often they occur.
struct Counts {
  std::vector<std::pair<uint32_t, double>> ngrams;
  double length = 0;  ///< in pairs of words, as the toolkit has it
};

/// The n-grams of the whole corpus have numbers of their own; what a text costs depends on its length alone.
class Corpus {
 public:
  Corpus(const Segments& hypotheses, const References& references)
      : logarithm_(std::log(static_cast<double>(hypotheses.size()))) {
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      hypotheses_.push_back(count(hypotheses[i]));
      references_.emplace_back();
      for (const Segments& set : references) references_.back().push_back(count(set[i]));
    }
    frequencies_.resize(tree_.size());
    for (const auto& segment : references_) add_document(segment);
  }

  double score(size_t segment) const {
    double similarities = 0;
    for (const Counts& reference : references_[segment])
      similarities += similarity(hypotheses_[segment], reference);
    return 10 * similarities / static_cast<double>(references_[segment].size());
  }

 private:
  Counts count(const std::string& text) {
    const auto symbols = words_.of(unicode::split(text));
    std::vector<uint32_t> nodes;
    for (size_t begin = 0; begin < symbols.size(); ++begin) {
      uint32_t node = 0;
      for (size_t at = begin; at < std::min(symbols.size(), begin + kOrder); ++at) {
        nodes.push_back(node = tree_.extend(node, symbols[at]));
      }
    }
    std::sort(nodes.begin(), nodes.end());
    Counts counts;
    for (const uint32_t node : nodes) {
      if (counts.ngrams.empty() || counts.ngrams.back().first != node) counts.ngrams.emplace_back(node, 0);
      ++counts.ngrams.back().second;
    }
    counts.length = static_cast<double>(ngrams_in(symbols.size(), 2));
    return counts;
  }

  void add_document(const std::vector<Counts>& segment) {
    std::vector<uint32_t> nodes;
    for (const Counts& reference : segment) {
      for (const auto& [node, count] : reference.ngrams) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (const uint32_t node : nodes) ++frequencies_[node];
  }

  double weight(const std::pair<uint32_t, double>& ngram) const {
    return ngram.second * (logarithm_ - std::log(std::max(1.0, frequencies_[ngram.first])));
  }

  std::array<double, kOrder> norms(const Counts& counts) const {
    std::array<double, kOrder> sums{};
    for (const auto& ngram : counts.ngrams) {
      sums[static_cast<size_t>(tree_.order(ngram.first) - 1)] += weight(ngram) * weight(ngram);
    }
    for (double& sum : sums) sum = std::sqrt(sum);
    return sums;
  }

  double similarity(const Counts& hypothesis, const Counts& reference) const {
    std::array<double, kOrder> products{};
    auto theirs = reference.ngrams.begin();
    for (const auto& ngram : hypothesis.ngrams) {
      while (theirs != reference.ngrams.end() && theirs->first < ngram.first) ++theirs;
      if (theirs == reference.ngrams.end() || theirs->first != ngram.first) continue;
      products[static_cast<size_t>(tree_.order(ngram.first) - 1)] +=
          std::min(weight(ngram), weight(*theirs)) * weight(*theirs);
    }
    const auto our_norms = norms(hypothesis), their_norms = norms(reference);
    const double gap = hypothesis.length - reference.length;
    double sum = 0;
    for (size_t n = 0; n < kOrder; ++n) {
      const double norm = our_norms[n] * their_norms[n];
      if (norm != 0) sum += products[n] / norm;
    }
    return sum / kOrder * std::exp(-gap * gap / (2 * kSigma * kSigma));
  }

  double logarithm_;  // of the number of segments
  NgramTree tree_;
  WordNumbers words_;
  std::vector<Counts> hypotheses_;
  std::vector<std::vector<Counts>> references_;
  std::vector<double> frequencies_;
};

}  // namespace

std::vector<double> segment_cider(const Segments& hypotheses, const References& references) {
  check_segments(hypotheses, references);
  const Corpus corpus(hypotheses, references);
  std::vector<double> scores;
  for (size_t i = 0; i < hypotheses.size(); ++i) scores.push_back(100 * corpus.score(i));
  return scores;
}

double cider(const Segments& hypotheses, const References& references) {
  const auto scores = segment_cider(hypotheses, references);
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

}  // namespace synthesizer
