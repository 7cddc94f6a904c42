#pragma once

#include "metric/metric.h"

namespace synthesizer {

/// chrF (Popović, 2015) as sacreBLEU computes it: the F-score of character n-grams, each order's precision
/// and recall averaged first. With word n-grams up to order 2 it is chrF++ (Popović, 2017).
struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;
  int beta = 2;  ///< how many times more recall weighs than precision
  bool lowercase = false;
  bool whitespace = false;  ///< spaces are characters too
  /// Orders nothing has count as almost 0 instead of being left out, as in chrF++.py, Moses and NLTK.
  bool eps_smoothing = false;
};

/// All that chrF needs to know of a segment, an entry an order, characters first. Sums of it are sufficient
/// for any set of segments.
struct ChrfCounts {
  std::vector<int64_t> hypothesis, reference, matches;

  ChrfCounts& operator+=(const ChrfCounts& other);
};

/// Segment by segment, each with the reference that gives it the best score. Throws InvalidInput as
/// check_segments does and where an order is out of range.
std::vector<ChrfCounts> chrf_counts(const Segments& hypotheses, const References& references,
                                    const ChrfOptions& options = {});

/// From the sum over the segments, 0 to 100.
double chrf_from(const ChrfCounts& sum, const ChrfOptions& options = {});

/// Of a whole corpus.
double chrf(const Segments& hypotheses, const References& references, const ChrfOptions& options = {});

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.4.3"
std::string chrf_signature(const ChrfOptions& options, size_t references);

/// "chrF2", with a + for each order of words: "chrF2++".
std::string chrf_name(const ChrfOptions& options);

Metric chrf_metric();

}  // namespace synthesizer
