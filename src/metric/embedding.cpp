#include "metric/embedding.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "metric/dot_product.h"
#include "metric/resampled.h"
#include "text/unicode_text.h"

namespace synthesizer {
namespace {

using Vector = std::vector<double>;

/// Of length 1, so that products are cosines; a vector of zeros stays.
Vector normalized(Vector vector) {
  const double length = std::sqrt(dot_product(vector, vector));
  if (length > 0) {
    for (double& value : vector) value /= length;
  }
  return vector;
}

/// A text as the three scores see it, everything of length 1.
struct EmbeddedText {
  std::vector<Vector> words;
  Vector sum, extrema;
};

/// The greater of two in size, the negative one where they are as great. A smallest value of exactly 0 wins
/// over any: so nlg-eval has it.
double more_extreme(double largest, double smallest) {
  return smallest > 0 || (smallest < 0 && largest > -smallest) ? largest : smallest;
}

EmbeddedText read_embedded_text(const std::string& text, const WordVectors& vectors, UnknownWords unknown) {
  EmbeddedText result;
  Vector sum(vectors.width()), largest, smallest;
  for (const std::string_view word : unicode::split(text)) {
    auto found = vectors.find(word);
    if (found.empty() && unknown == UnknownWords::mean) found = vectors.mean();
    if (found.empty()) continue;
    const Vector vector(found.begin(), found.end());
    if (largest.empty()) largest = smallest = vector;
    for (size_t i = 0; i < vector.size(); ++i) {
      sum[i] += vector[i];
      largest[i] = std::max(largest[i], vector[i]);
      smallest[i] = std::min(smallest[i], vector[i]);
    }
    result.words.push_back(normalized(vector));
  }
  if (result.words.empty()) return result;
  std::transform(largest.begin(), largest.end(), smallest.begin(), largest.begin(), more_extreme);
  result.sum = normalized(std::move(sum));
  result.extrema = normalized(std::move(largest));
  return result;
}

/// The mean over the words of both texts' own means: each word and the nearest of the other text.
double greedy(const EmbeddedText& a, const EmbeddedText& b) {
  Vector best_a(a.words.size(), -1), best_b(b.words.size(), -1);
  for (size_t i = 0; i < a.words.size(); ++i) {
    for (size_t j = 0; j < b.words.size(); ++j) {
      const double cosine = dot_product(a.words[i], b.words[j]);
      best_a[i] = std::max(best_a[i], cosine);
      best_b[j] = std::max(best_b[j], cosine);
    }
  }
  double mean = 0;
  for (const Vector* best : {&best_a, &best_b}) {
    for (const double cosine : *best) mean += cosine / (2 * static_cast<double>(best->size()));
  }
  return mean;
}

Embedding compare_embedded(const EmbeddedText& a, const EmbeddedText& b) {
  if (a.words.empty() || b.words.empty()) return {};
  return {dot_product(a.sum, b.sum), dot_product(a.extrema, b.extrema), greedy(a, b)};
}

std::vector<std::string_view> all_words(const Segments& hypotheses, const References& references) {
  std::vector<std::string_view> words;
  const auto add = [&](const Segments& segments) {
    for (const std::string& text : segments) {
      const auto found = unicode::split(text);
      words.insert(words.end(), found.begin(), found.end());
    }
  };
  add(hypotheses);
  for (const Segments& set : references) add(set);
  return words;
}

constexpr double Embedding::*kScores[] = {&Embedding::average, &Embedding::extrema, &Embedding::greedy};

std::vector<Embedding> segments_with(const MetricOptions& options, const Segments& hypotheses,
                                     const References& references) {
  const std::string& path = options.at("vectors");
  if (path.empty()) {
    invalid("metric embedding needs the option vectors: a text file of word2vec or GloVe, plain or gzip");
  }
  const WordVectors vectors(path, all_words(hypotheses, references));
  const auto unknown = options.at("unknown") == "skip" ? UnknownWords::skip : UnknownWords::mean;
  return segment_embedding(hypotheses, references, vectors, unknown);
}

Embedding mean_embedding(const std::vector<Embedding>& segments) {
  Embedding mean;
  for (const Embedding& segment : segments) {
    for (const auto score : kScores) mean.*score += segment.*score / static_cast<double>(segments.size());
  }
  return mean;
}

MetricResult compute_embedding(const Segments& hypotheses, const References& references,
                               const MetricOptions& options) {
  const Embedding found = mean_embedding(segments_with(options, hypotheses, references));
  return with_text({{"average", found.average}, {"extrema", found.extrema}, {"greedy", found.greedy}});
}

ResampledScores resample_embedding(const Segments& hypotheses, const References& references,
                                   const MetricOptions& options) {
  const auto segments = segments_with(options, hypotheses, references);
  auto score = [&](double Embedding::*which) {
    return resampled_mean(segments, [which](const Embedding& segment) { return segment.*which; });
  };
  return {{"average", score(&Embedding::average)},
          {"extrema", score(&Embedding::extrema)},
          {"greedy", score(&Embedding::greedy)}};
}

}  // namespace

std::vector<Embedding> segment_embedding(const Segments& hypotheses, const References& references,
                                         const WordVectors& vectors, UnknownWords unknown) {
  check_segments(hypotheses, references);
  std::vector<Embedding> segments;
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    const EmbeddedText hypothesis = read_embedded_text(hypotheses[i], vectors, unknown);
    Embedding best{-1, -1, -1};
    for (const Segments& set : references) {
      const Embedding found = compare_embedded(hypothesis, read_embedded_text(set[i], vectors, unknown));
      for (const auto score : kScores) best.*score = std::max(best.*score, found.*score);
    }
    for (const auto score : kScores) best.*score *= 100;
    segments.push_back(best);
  }
  return segments;
}

Embedding embedding(const Segments& hypotheses, const References& references, const WordVectors& vectors,
                    UnknownWords unknown) {
  return mean_embedding(segment_embedding(hypotheses, references, vectors, unknown));
}

Metric embedding_metric() {
  return {"embedding",
          "similarity of word vectors: average, extrema and greedy matching, as in nlg-eval",
          "average",
          {{"vectors", "word vectors: a text file of word2vec or GloVe, plain or gzip", "", {}},
           {"unknown", "what to use for words without a vector", "mean", {"mean", "skip"}}},
          compute_embedding,
          resample_embedding};
}

}  // namespace synthesizer
