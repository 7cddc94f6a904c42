#include "metric/classify.h"

#include <cmath>
#include <map>

#include "text/unicode_text.h"

namespace synthesizer {
namespace {

std::vector<LabelCounts> label_counts(const Segments& predicted, const Segments& gold) {
  const LabelPairs pairs = label_pairs(predicted, gold);
  std::vector<LabelCounts> counts(pairs.labels.size());
  for (const auto& [ours, right] : pairs.pairs) count_pair(counts, ours, right);
  return counts;
}

}  // namespace

LabelPairs label_pairs(const Segments& predicted, const Segments& gold) {
  check_segments(predicted, {gold});
  LabelPairs result;
  std::map<std::string, uint32_t, std::less<>> numbers;
  auto number_of = [&](std::string_view line) {
    const std::string label(unicode::without_trailing_space(line));
    const auto [found, added] = numbers.try_emplace(label, static_cast<uint32_t>(numbers.size()));
    if (added) result.labels.push_back(label);
    return found->second;
  };
  for (size_t i = 0; i < gold.size(); ++i) {
    const uint32_t ours = number_of(predicted[i]);
    result.pairs.emplace_back(ours, number_of(gold[i]));
  }
  return result;
}

void count_pair(std::vector<LabelCounts>& counts, uint32_t predicted, uint32_t gold, double times) {
  counts[predicted].predicted += times;
  counts[gold].gold += times;
  if (predicted == gold) counts[gold].both += times;
}

double accuracy_from(const std::vector<LabelCounts>& counts) {
  double right = 0, all = 0;
  for (const LabelCounts& label : counts) {
    right += label.both;
    all += label.gold;
  }
  return 100 * right / all;
}

double macro_f1_from(const std::vector<LabelCounts>& counts) {
  double sum = 0, labels = 0;
  for (const LabelCounts& label : counts) {
    sum += label.f1();
    labels += label.predicted + label.gold > 0;
  }
  return sum / labels;
}

double matthews_from(const std::vector<LabelCounts>& counts) {
  double n = 0;
  for (const LabelCounts& label : counts) n += label.gold;
  double covariance = 0, of_predicted = n * n, of_gold = n * n;
  for (const LabelCounts& label : counts) {
    covariance += label.both * n - label.predicted * label.gold;
    of_predicted -= label.predicted * label.predicted;
    of_gold -= label.gold * label.gold;
  }
  if (of_predicted == 0 || of_gold == 0) return 0;
  return 100 * covariance / std::sqrt(of_predicted * of_gold);
}

double accuracy(const Segments& predicted, const Segments& gold) {
  return accuracy_from(label_counts(predicted, gold));
}

double f1_binary(const Segments& predicted, const Segments& gold, const std::string& positive) {
  const LabelPairs pairs = label_pairs(predicted, gold);
  LabelCounts counts;
  for (const auto& [ours, right] : pairs.pairs) {
    const bool found = pairs.labels[ours] == positive, wanted = pairs.labels[right] == positive;
    counts.predicted += found;
    counts.gold += wanted;
    counts.both += found && wanted;
  }
  return counts.f1();
}

double macro_f1(const Segments& predicted, const Segments& gold) {
  return macro_f1_from(label_counts(predicted, gold));
}

double matthews(const Segments& predicted, const Segments& gold) {
  return matthews_from(label_counts(predicted, gold));
}

}  // namespace synthesizer
