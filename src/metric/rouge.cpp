#include "metric/rouge.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "metric/ngrams.h"
#include "metric/porter_stemmer.h"
#include "metric/subsequence.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

using NumberedWords = std::vector<uint32_t>;

/// A text as numbers of words; the sentences' words one after another are all its words.
struct NumberedText {
  std::vector<NumberedWords> sentences;
  NumberedWords words;
};

/// Numbers of words, equal words the same, within one segment.
class Reader {
 public:
  explicit Reader(const RougeOptions& options) : options_(options) {}

  void clear() { numbers_.clear(); }

  NumberedText read(const std::string& segment) {
    NumberedText text{{{}}, {}};
    for (const std::string_view piece : unicode::split(segment)) {
      if (piece == "<n>") {
        text.sentences.emplace_back();
      } else {
        add_words(unicode::lowercase(piece), text.sentences.back());
      }
    }
    for (const NumberedWords& sentence : text.sentences) {
      text.words.insert(text.words.end(), sentence.begin(), sentence.end());
    }
    return text;
  }

 private:
  void add_words(const std::string& piece, NumberedWords& words) {
    std::string word;
    for (const char c : piece + ' ') {
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        word += c;
      } else if (!word.empty()) {
        if (options_.stem && word.size() > 3) word = porter_stem(word);
        words.push_back(numbers_.try_emplace(word, static_cast<uint32_t>(numbers_.size())).first->second);
        word.clear();
      }
    }
  }

  RougeOptions options_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

/// From 0 to 1, in the very operations of rouge-score: rounding decides between references as good.
RougeScore from_counts(size_t common, size_t hypothesis, size_t reference) {
  RougeScore score;
  score.precision = static_cast<double>(common) / static_cast<double>(std::max<size_t>(hypothesis, 1));
  score.recall = static_cast<double>(common) / static_cast<double>(std::max<size_t>(reference, 1));
  const double sum = score.precision + score.recall;
  if (sum > 0) score.f = 2 * score.precision * score.recall / sum;
  return score;
}

RougeScore common_ngrams(const NumberedText& hypothesis, const NumberedText& reference, int order) {
  NgramTree tree;
  const NgramCounts ours = count_ngrams(tree, hypothesis.words, order);
  const NgramCounts theirs = count_ngrams(tree, reference.words, order);
  int64_t common = 0;
  for (uint32_t node = 1; node < ours.size(); ++node) {
    if (tree.order(node) == order) common += std::min(ours[node], theirs[node]);
  }
  return from_counts(static_cast<size_t>(common),
                     static_cast<size_t>(ngrams_in(hypothesis.words.size(), order)),
                     static_cast<size_t>(ngrams_in(reference.words.size(), order)));
}

std::unordered_map<uint32_t, int64_t> word_counts(const NumberedWords& words) {
  std::unordered_map<uint32_t, int64_t> counts;
  for (const uint32_t word : words) ++counts[word];
  return counts;
}

/// A word is a hit once for each time that both texts have it, whatever the number of sentences it is in.
RougeScore summary_level(const NumberedText& hypothesis, const NumberedText& reference) {
  auto ours = word_counts(hypothesis.words), theirs = word_counts(reference.words);
  size_t hits = 0;
  for (const NumberedWords& sentence : reference.sentences) {
    std::set<size_t> together;
    for (const NumberedWords& other : hypothesis.sentences) {
      for (const size_t place : common_places(sentence, other)) together.insert(place);
    }
    for (const size_t place : together) {
      int64_t &our = ours[sentence[place]], &their = theirs[sentence[place]];
      if (our <= 0 || their <= 0) continue;
      ++hits;
      --our;
      --their;
    }
  }
  return from_counts(hits, hypothesis.words.size(), reference.words.size());
}

Rouge compare_words(const NumberedText& hypothesis, const NumberedText& reference) {
  const size_t common = longest_common_subsequence(reference.words, hypothesis.words);
  return {common_ngrams(hypothesis, reference, 1), common_ngrams(hypothesis, reference, 2),
          from_counts(common, hypothesis.words.size(), reference.words.size()),
          summary_level(hypothesis, reference)};
}

constexpr double RougeScore::*kParts[] = {&RougeScore::precision, &RougeScore::recall, &RougeScore::f};
constexpr RougeScore Rouge::*kKinds[] = {&Rouge::rouge1, &Rouge::rouge2, &Rouge::rouge_l, &Rouge::rouge_lsum};

}  // namespace

std::vector<Rouge> segment_rouge(const Segments& hypotheses, const References& references,
                                 const RougeOptions& options) {
  check_segments(hypotheses, references);
  std::vector<Rouge> scores(hypotheses.size());
  Reader reader(options);
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    reader.clear();
    const NumberedText hypothesis = reader.read(hypotheses[i]);
    for (size_t set = 0; set < references.size(); ++set) {
      const Rouge found = compare_words(hypothesis, reader.read(references[set][i]));
      for (const auto kind : kKinds) {
        if (set == 0 || (found.*kind).f > (scores[i].*kind).f) scores[i].*kind = found.*kind;
      }
    }
    for (const auto kind : kKinds) {
      for (const auto part : kParts) (scores[i].*kind).*part *= 100;
    }
  }
  return scores;
}

Rouge rouge(const Segments& hypotheses, const References& references, const RougeOptions& options) {
  Rouge mean;
  const auto scores = segment_rouge(hypotheses, references, options);
  const auto count = static_cast<double>(scores.size());
  for (const auto kind : kKinds) {
    for (const auto part : kParts) {
      for (const Rouge& score : scores) (mean.*kind).*part += (score.*kind).*part / count;
    }
  }
  return mean;
}

}  // namespace synthesizer
