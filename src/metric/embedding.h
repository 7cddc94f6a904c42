#pragma once

#include "metric/metric.h"
#include "metric/word_vectors.h"

namespace synthesizer {

/// How near texts are by the vectors of their words (Liu et al., 2016), as nlg-eval computes it: cosines
/// times 100, of several references the nearest, means over the segments. Words are what stands between
/// white space, where nlg-eval first has NLTK part punctuation from them.
struct Embedding {
  double average = 0;  ///< of the sums of the words' vectors
  double extrema = 0;  ///< of the vectors of each dimension's most extreme value
  double greedy = 0;   ///< of each word with its nearest in the other text, averaged, both ways
};

/// What stands for a word that has no vector: the mean of all vectors, as nlg-eval has it, or nothing.
enum class UnknownWords { mean, skip };

/// The vectors have to be those of all words of the texts. A text without words is like none: 0.
/// Throws InvalidInput as check_segments does.
Embedding embedding(const Segments& hypotheses, const References& references, const WordVectors& vectors,
                    UnknownWords unknown = UnknownWords::mean);

/// Segment by segment.
std::vector<Embedding> segment_embedding(const Segments& hypotheses, const References& references,
                                         const WordVectors& vectors,
                                         UnknownWords unknown = UnknownWords::mean);

Metric embedding_metric();

}  // namespace synthesizer
