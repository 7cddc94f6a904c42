// The metric of labels: its words, its entry in the registry, and its scores for resamples.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/error.h"
#include "metric/classify.h"
#include "metric/resampled.h"

namespace synthesizer {
namespace {

/// A label that no reference has is a slip of the pen: its F1 would be 0 whatever was predicted.
void check_positive(const Segments& predicted, const Segments& gold, const std::string& positive) {
  const LabelPairs pairs = label_pairs(predicted, gold);
  std::set<std::string> labels;
  for (const auto& [ours, right] : pairs.pairs) labels.insert(pairs.labels[right]);
  if (labels.contains(positive)) return;
  invalid(fmt::format("option positive is '{}', a label that no reference has (there are {})", positive,
                      fmt::join(labels, ", ")));
}

MetricResult compute_classify(const Segments& hypotheses, const References& references,
                              const MetricOptions& options) {
  const Segments& gold = only_reference(references, "classify");
  std::vector<std::pair<std::string, double>> scores = {{"accuracy", accuracy(hypotheses, gold)},
                                                        {"macro_f1", macro_f1(hypotheses, gold)}};
  if (const std::string& positive = options.at("positive"); !positive.empty()) {
    check_positive(hypotheses, gold, positive);
    scores.emplace_back("f1", f1_binary(hypotheses, gold, positive));
  }
  scores.emplace_back("matthews", matthews(hypotheses, gold));
  return with_text(scores);
}

/// There are few different pairs of labels: a resample is counted by pair, whatever the number of labels.
template <class Score>
class ResampledLabels : public Resampled {
 public:
  ResampledLabels(const LabelPairs& pairs, Score score) : labels_(pairs.labels.size()), score_(score) {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> kinds;
    for (const auto& pair : pairs.pairs) {
      const auto [found, added] = kinds.try_emplace(pair, static_cast<uint32_t>(kinds_.size()));
      if (added) kinds_.push_back(pair);
      kind_of_.push_back(found->second);
    }
  }

  size_t segments() const override { return kind_of_.size(); }
  double score(std::span<const uint32_t> drawn) const override {
    std::vector<uint32_t> times(kinds_.size());
    for (const uint32_t segment : drawn) ++times[kind_of_[segment]];
    std::vector<LabelCounts> counts(labels_);
    for (size_t k = 0; k < kinds_.size(); ++k)
      count_pair(counts, kinds_[k].first, kinds_[k].second, times[k]);
    return score_(counts);
  }

 private:
  size_t labels_;
  Score score_;
  std::vector<std::pair<uint32_t, uint32_t>> kinds_;
  std::vector<uint32_t> kind_of_;  // of a segment
};

ResampledScores resample_classify(const Segments& hypotheses, const References& references,
                                  const MetricOptions& options) {
  const LabelPairs pairs = label_pairs(hypotheses, only_reference(references, "classify"));
  auto with = [&](auto score) -> ResampledScore {
    return std::make_shared<ResampledLabels<decltype(score)>>(pairs, score);
  };
  ResampledScores scores = {{"accuracy", with(accuracy_from)}, {"macro_f1", with(macro_f1_from)}};
  if (const std::string& positive = options.at("positive"); !positive.empty()) {
    check_positive(hypotheses, references.front(), positive);
    const auto found = std::find(pairs.labels.begin(), pairs.labels.end(), positive);
    const auto place = static_cast<size_t>(found - pairs.labels.begin());
    scores.emplace_back("f1", with([place](const auto& counts) { return counts[place].f1(); }));
  }
  scores.emplace_back("matthews", with(matthews_from));
  return scores;
}

}  // namespace

Metric classify_metric() {
  return {"classify",       "accuracy, macro F1 and Matthews correlation of labels, as in scikit-learn",
          "accuracy",       {{"positive", "label whose F1 is reported", "", {}}},
          compute_classify, resample_classify};
}

}  // namespace synthesizer
