#include "metric/regress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/number_text.h"
#include "metric/dot_product.h"
#include "metric/resampled.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

bool all_equal(std::span<const double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [&](double n) { return n == numbers.front(); });
}

void check_numbers_differ(std::span<const double> numbers, const char* whose) {
  if (all_equal(numbers)) {
    invalid(fmt::format("a correlation is undefined where all numbers are equal, and those of the {} are",
                        whose));
  }
}

/// Differences from the mean.
std::vector<double> centered(std::span<const double> numbers) {
  const double mean =
      std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
  std::vector<double> result(numbers.begin(), numbers.end());
  for (double& number : result) number -= mean;
  return result;
}

std::vector<double> ranks(std::span<const double> numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return numbers[a] < numbers[b]; });
  std::vector<double> ranks(numbers.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && numbers[order[end]] == numbers[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2;
  }
  return ranks;
}

std::vector<double> numbers_of(const Segments& lines, const char* whose) {
  std::vector<double> numbers;
  for (const std::string& line : lines) {
    const auto words = unicode::split(line);
    std::string_view text = words.size() == 1 ? words[0] : std::string_view();
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    if (!parse_number(text, number) || !std::isfinite(number)) {
      invalid(fmt::format("line {} of the {} is '{}': it must be a number", numbers.size() + 1, whose, line));
    }
    numbers.push_back(number);
  }
  return numbers;
}

MetricResult compute_regress(const Segments& hypotheses, const References& references, const MetricOptions&) {
  const auto predicted = numbers_of(hypotheses, "hypotheses");
  const auto gold = numbers_of(only_reference(references, "regress"), "references");
  return with_text({{"pearson", pearson(predicted, gold)}, {"spearman", spearman(predicted, gold)}});
}

/// Ranks depend on all numbers together, so that nothing can be counted once and summed.
class ResampledCorrelation : public Resampled {
 public:
  using Correlation = double (*)(std::span<const double>, std::span<const double>);

  ResampledCorrelation(std::vector<double> predicted, std::vector<double> gold, Correlation correlation)
      : predicted_(std::move(predicted)), gold_(std::move(gold)), correlation_(correlation) {}

  size_t segments() const override { return gold_.size(); }
  double score(std::span<const uint32_t> drawn) const override {
    std::vector<double> predicted, gold;
    for (const uint32_t segment : drawn) {
      predicted.push_back(predicted_[segment]);
      gold.push_back(gold_[segment]);
    }
    // A resample may consist of equals, by chance: they tell nothing of the order.
    if (all_equal(predicted) || all_equal(gold)) return 0;
    return correlation_(predicted, gold);
  }

 private:
  std::vector<double> predicted_, gold_;
  Correlation correlation_;
};

ResampledScores resample_regress(const Segments& hypotheses, const References& references,
                                 const MetricOptions&) {
  const auto predicted = numbers_of(hypotheses, "hypotheses");
  const auto gold = numbers_of(only_reference(references, "regress"), "references");
  return {{"pearson", std::make_shared<ResampledCorrelation>(predicted, gold, pearson)},
          {"spearman", std::make_shared<ResampledCorrelation>(predicted, gold, spearman)}};
}

}  // namespace

double pearson(std::span<const double> predicted, std::span<const double> gold) {
  if (predicted.size() != gold.size() || gold.empty()) {
    invalid(fmt::format("{} numbers predicted and {} given: a correlation needs pairs", predicted.size(),
                        gold.size()));
  }
  check_numbers_differ(predicted, "hypotheses");
  check_numbers_differ(gold, "references");
  const auto a = centered(predicted), b = centered(gold);
  return 100 * std::clamp(dot_product(a, b) / (std::sqrt(dot_product(a, a)) * std::sqrt(dot_product(b, b))),
                          -1.0, 1.0);
}

double spearman(std::span<const double> predicted, std::span<const double> gold) {
  return pearson(ranks(predicted), ranks(gold));
}

Metric regress_metric() {
  return {"regress",       "Pearson and Spearman correlation of numbers, as in SciPy",
          "pearson",       {},
          compute_regress, resample_regress};
}

}  // namespace synthesizer
