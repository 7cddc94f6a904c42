#include "metric/chrf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "metric/ngrams.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

constexpr int kMostOrders = 20;

bool is_punctuation(char c) {
  return c != '\0' && std::strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) != nullptr;
}

/// Words for chrF++: a punctuation mark at the end, otherwise one at the start, is a word of its own.
std::vector<std::string_view> chrf_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view word : unicode::split(text)) {
    const size_t last = word.size() - 1;
    if (last > 0 && is_punctuation(word[last])) {
      words.push_back(word.substr(0, last));
      words.push_back(word.substr(last));
    } else if (last > 0 && is_punctuation(word[0])) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

std::vector<uint32_t> characters_of(std::string_view text, bool whitespace) {
  std::vector<uint32_t> characters;
  characters.reserve(text.size());
  for (char32_t c : unicode::decode(text)) {
    if (whitespace || !unicode::is_space(c)) characters.push_back(c);
  }
  return characters;
}

/// A text's n-grams of one kind, characters or words.
struct Sequence {
  size_t length = 0;
  NgramCounts ngrams;
};

/// Adds the orders of one kind to the counts.
void compare_ngrams(const NgramTree& tree, const Sequence& hypothesis, const Sequence& reference, int orders,
                    ChrfCounts& counts) {
  const size_t first = counts.matches.size();
  for (int n = 1; n <= orders; ++n) {
    const int64_t in_reference = ngrams_in(reference.length, n);
    // What the reference is too short for is not held against the hypothesis.
    counts.hypothesis.push_back(in_reference > 0 ? ngrams_in(hypothesis.length, n) : 0);
    counts.reference.push_back(in_reference);
    counts.matches.push_back(0);
  }
  for (uint32_t node = 1; node < hypothesis.ngrams.size(); ++node) {
    counts.matches[first + tree.order(node) - 1] +=
        std::min(hypothesis.ngrams[node], count_of(reference.ngrams, node));
  }
}

/// Counts one segment after another, keeping what it has allocated.
class ChrfCounter {
 public:
  explicit ChrfCounter(const ChrfOptions& options) : options_(options) {}

  ChrfCounts count(const References& references, size_t segment, const std::string& hypothesis) {
    characters_.clear();
    words_.clear();
    numbers_.clear();
    texts_.clear();
    texts_.reserve(references.size() + 1);  // words point into the texts, which must not move
    const Text ours = read(hypothesis);
    ChrfCounts best;
    double best_score = -1;
    for (const Segments& set : references) {
      const Text theirs = read(set[segment]);
      ChrfCounts counts;
      compare_ngrams(characters_, ours.characters, theirs.characters, options_.char_order, counts);
      compare_ngrams(words_, ours.words, theirs.words, options_.word_order, counts);
      const double score = chrf_from(counts, options_);
      if (score <= best_score) continue;
      best_score = score;
      best = std::move(counts);
    }
    return best;
  }

 private:
  struct Text {
    Sequence characters, words;
  };

  Text read(const std::string& segment) {
    texts_.push_back(options_.lowercase ? unicode::lowercase(segment) : segment);
    const auto characters = characters_of(texts_.back(), options_.whitespace);
    Text text;
    text.characters = {characters.size(), count_ngrams(characters_, characters, options_.char_order)};
    if (options_.word_order > 0) {
      const auto words = numbers_.of(chrf_words(texts_.back()));
      text.words = {words.size(), count_ngrams(words_, words, options_.word_order)};
    }
    return text;
  }

  const ChrfOptions& options_;
  NgramTree characters_, words_;
  WordNumbers numbers_;
  std::vector<std::string> texts_;
};

void check_chrf_options(const ChrfOptions& options) {
  auto outside = [](int order, int least) { return order < least || order > kMostOrders; };
  if (outside(options.char_order, 1) || outside(options.word_order, 0)) {
    invalid(fmt::format("chrF of character order {} and word order {}: they go from 1 and 0 to {}",
                        options.char_order, options.word_order, kMostOrders));
  }
  if (options.beta < 1) invalid(fmt::format("chrF with beta {}: it is 1 or more", options.beta));
}

}  // namespace

ChrfCounts& ChrfCounts::operator+=(const ChrfCounts& other) {
  auto add = [](std::vector<int64_t>& sum, const std::vector<int64_t>& more) {
    if (sum.size() < more.size()) sum.resize(more.size());
    for (size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
  };
  add(hypothesis, other.hypothesis);
  add(reference, other.reference);
  add(matches, other.matches);
  return *this;
}

std::vector<ChrfCounts> chrf_counts(const Segments& hypotheses, const References& references,
                                    const ChrfOptions& options) {
  check_chrf_options(options);
  check_segments(hypotheses, references);
  std::vector<ChrfCounts> counts;
  counts.reserve(hypotheses.size());
  ChrfCounter counter(options);
  for (size_t i = 0; i < hypotheses.size(); ++i)
    counts.push_back(counter.count(references, i, hypotheses[i]));
  return counts;
}

double chrf_from(const ChrfCounts& sum, const ChrfOptions& options) {
  constexpr double kAlmostNothing = 1e-16;
  const double factor = options.beta * options.beta;
  double of_orders = 0, precisions = 0, recalls = 0;
  int orders = 0;
  for (size_t i = 0; i < sum.matches.size(); ++i) {
    const auto hypothesis = static_cast<double>(sum.hypothesis[i]);
    const auto reference = static_cast<double>(sum.reference[i]);
    const auto matches = static_cast<double>(sum.matches[i]);
    const double precision = hypothesis > 0 ? matches / hypothesis : kAlmostNothing;
    const double recall = reference > 0 ? matches / reference : kAlmostNothing;
    const double weight = factor * precision + recall;
    of_orders += weight > 0 ? (1 + factor) * precision * recall / weight : kAlmostNothing;
    if (hypothesis > 0 && reference > 0) {
      precisions += precision;
      recalls += recall;
      ++orders;
    }
  }
  if (options.eps_smoothing) return 100 * of_orders / (options.char_order + options.word_order);
  if (orders == 0 || precisions + recalls == 0) return 0;
  const double precision = precisions / orders, recall = recalls / orders;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

double chrf(const Segments& hypotheses, const References& references, const ChrfOptions& options) {
  ChrfCounts sum;
  for (const ChrfCounts& segment : chrf_counts(hypotheses, references, options)) sum += segment;
  return chrf_from(sum, options);
}

}  // namespace synthesizer
