#include "metric/bleu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/nearest.h"
#include "metric/ngrams.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

std::string prepare(const std::string& segment, const BleuOptions& options) {
  const std::string text = options.lowercase ? unicode::lowercase(segment) : segment;
  return bleu_tokenize(unicode::without_trailing_space(text), options.tokenizer);
}

/// Counts one segment after another, keeping what it has allocated.
class BleuCounter {
 public:
  explicit BleuCounter(const BleuOptions& options) : options_(options) {}

  BleuCounts count(const References& references, size_t segment, const std::string& hypothesis) {
    tree_.clear();
    words_.clear();
    texts_.clear();
    texts_.reserve(references.size() + 1);  // words point into the texts, which must not move
    const auto symbols = read(hypothesis);
    const NgramCounts found = count_ngrams(tree_, symbols, kBleuOrder);
    BleuCounts counts;
    counts.hypothesis_length = static_cast<int64_t>(symbols.size());
    NgramCounts most(tree_.size());  // of any reference
    int64_t closest = -1;
    for (const Segments& set : references) {
      const auto reference = read(set[segment]);
      const NgramCounts in_reference = count_ngrams(tree_, reference, kBleuOrder);
      for (size_t node = 1; node < most.size(); ++node) most[node] = std::max(most[node], in_reference[node]);
      const auto length = static_cast<int64_t>(reference.size());
      const int64_t gap = std::abs(length - counts.hypothesis_length);
      if (closest < 0 || gap < closest || (gap == closest && length < counts.reference_length)) {
        closest = gap;
        counts.reference_length = length;
      }
    }
    for (int n = 1; n <= kBleuOrder; ++n) counts.totals[n - 1] = ngrams_in(symbols.size(), n);
    for (uint32_t node = 1; node < found.size(); ++node) {
      counts.matches[tree_.order(node) - 1] += std::min(found[node], most[node]);
    }
    return counts;
  }

 private:
  std::vector<uint32_t> read(const std::string& segment) {
    texts_.push_back(prepare(segment, options_));
    return words_.of(unicode::split(texts_.back()));
  }

  const BleuOptions& options_;
  NgramTree tree_;
  WordNumbers words_;
  std::vector<std::string> texts_;
};

}  // namespace

const std::vector<std::string>& bleu_smoothing_names() {
  static const std::vector<std::string> names = {"exp", "floor", "add-k", "none"};
  return names;
}

BleuSmoothing bleu_smoothing(std::string_view name) {
  const auto& names = bleu_smoothing_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    invalid(fmt::format("no BLEU smoothing '{}'{} (there are {})", name, did_you_mean(name, names),
                        fmt::join(names, ", ")));
  }
  return static_cast<BleuSmoothing>(found - names.begin());
}

std::optional<double> smoothing_value(const BleuOptions& options) {
  switch (options.smoothing) {
    case BleuSmoothing::floor: return options.smoothing_value.value_or(0.1);
    case BleuSmoothing::add_k: return options.smoothing_value.value_or(1);
    default: return std::nullopt;
  }
}

BleuCounts& BleuCounts::operator+=(const BleuCounts& other) {
  hypothesis_length += other.hypothesis_length;
  reference_length += other.reference_length;
  for (int n = 0; n < kBleuOrder; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  return *this;
}

std::vector<BleuCounts> bleu_counts(const Segments& hypotheses, const References& references,
                                    const BleuOptions& options) {
  check_segments(hypotheses, references);
  std::vector<BleuCounts> counts;
  counts.reserve(hypotheses.size());
  BleuCounter counter(options);
  for (size_t i = 0; i < hypotheses.size(); ++i)
    counts.push_back(counter.count(references, i, hypotheses[i]));
  return counts;
}

Bleu bleu_from(const BleuCounts& sum, const BleuOptions& options) {
  Bleu result;
  result.counts = sum;
  const auto hypothesis = static_cast<double>(sum.hypothesis_length);
  const auto reference = static_cast<double>(sum.reference_length);
  if (reference > 0) result.ratio = hypothesis / reference;
  if (hypothesis < reference)
    result.brevity_penalty = hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
  if (std::all_of(sum.matches.begin(), sum.matches.end(), [](int64_t n) { return n == 0; })) return result;

  const double value = smoothing_value(options).value_or(0);
  double halved = 1;
  int orders = options.effective_order ? 0 : kBleuOrder;
  for (int n = 0; n < kBleuOrder; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(sum.matches[n]) + added;
    const double total = static_cast<double>(sum.totals[n]) + added;
    if (total == 0) break;
    if (options.effective_order) orders = n + 1;
    double& precision = result.precisions[n];
    if (matches != 0) {
      precision = 100 * matches / total;
    } else if (options.smoothing == BleuSmoothing::exponential) {
      precision = 100 / ((halved *= 2) * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      precision = 100 * value / total;
    }
  }
  // A precision of 0 makes the mean 0: its logarithm is minus infinity.
  double logarithms = 0;
  for (int n = 0; n < orders; ++n) logarithms += std::log(result.precisions[n]);
  result.score = result.brevity_penalty * std::exp(logarithms / orders);
  return result;
}

Bleu bleu(const Segments& hypotheses, const References& references, const BleuOptions& options) {
  const auto counts = bleu_counts(hypotheses, references, options);
  BleuCounts sum;
  for (const BleuCounts& segment : counts) sum += segment;
  return bleu_from(sum, options);
}

Bleu sentence_bleu(const std::string& hypothesis, const Segments& references, BleuOptions options) {
  options.effective_order = true;
  References sets;
  for (const std::string& reference : references) sets.push_back({reference});
  return bleu({hypothesis}, sets, options);
}

}  // namespace synthesizer
