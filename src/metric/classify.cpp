#include "metric/classify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "metric/unicode_text.h"

namespace synthesizer {
namespace {

/// How often a label was predicted, is right, and both.
struct LabelCounts {
  double predicted = 0, gold = 0, both = 0;

  double f1() const { return predicted + gold > 0 ? 200 * both / (predicted + gold) : 0; }
};

std::map<std::string, LabelCounts, std::less<>> count(const Segments& predicted, const Segments& gold) {
  check_segments(predicted, {gold});
  std::map<std::string, LabelCounts, std::less<>> counts;
  for (size_t i = 0; i < gold.size(); ++i) {
    const std::string ours(unicode::without_trailing_space(predicted[i]));
    const std::string right(unicode::without_trailing_space(gold[i]));
    ++counts[ours].predicted;
    ++counts[right].gold;
    if (ours == right) ++counts[ours].both;
  }
  return counts;
}

/// A label that no reference has is a slip of the pen: its F1 would be 0 whatever was predicted.
void check_positive(const Segments& predicted, const Segments& gold, const std::string& positive) {
  std::vector<std::string> labels;
  for (const auto& [label, counts] : count(predicted, gold)) {
    if (counts.gold > 0) labels.push_back(label);
  }
  for (const std::string& label : labels) {
    if (label == positive) return;
  }
  invalid(fmt::format("option positive is '{}', a label that no reference has (there are {})", positive,
                      fmt::join(labels, ", ")));
}

MetricResult compute(const Segments& hypotheses, const References& references, const MetricOptions& options) {
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

}  // namespace

double accuracy(const Segments& predicted, const Segments& gold) {
  double right = 0;
  for (const auto& [label, counts] : count(predicted, gold)) right += counts.both;
  return 100 * right / static_cast<double>(gold.size());
}

double f1_binary(const Segments& predicted, const Segments& gold, const std::string& positive) {
  const auto counts = count(predicted, gold);
  const auto found = counts.find(positive);
  return found == counts.end() ? 0 : found->second.f1();
}

double macro_f1(const Segments& predicted, const Segments& gold) {
  const auto all = count(predicted, gold);
  double sum = 0;
  for (const auto& [label, counts] : all) sum += counts.f1();
  return sum / static_cast<double>(all.size());
}

double matthews(const Segments& predicted, const Segments& gold) {
  const auto n = static_cast<double>(gold.size());
  double covariance = 0, of_predicted = n * n, of_gold = n * n;
  for (const auto& [label, counts] : count(predicted, gold)) {
    covariance += counts.both * n - counts.predicted * counts.gold;
    of_predicted -= counts.predicted * counts.predicted;
    of_gold -= counts.gold * counts.gold;
  }
  if (of_predicted == 0 || of_gold == 0) return 0;
  return 100 * covariance / std::sqrt(of_predicted * of_gold);
}

Metric classify_metric() {
  return {"classify",
          "accuracy, macro F1 and Matthews' correlation of labels, as scikit-learn",
          "accuracy",
          {{"positive", "a label, for its F1", "", {}}},
          compute};
}

}  // namespace synthesizer
