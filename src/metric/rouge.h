#pragma once

#include "metric/metric.h"

namespace synthesizer {

/// ROUGE (Lin, 2004) as Google's rouge-score 0.1.2 computes it. Words are runs of a-z and 0-9 in the text in
/// small letters. The word <n> parts sentences, where rouge-score has line ends.
struct RougeOptions {
  bool stem = false;  ///< words of more than 3 characters are compared by their stems
};

struct RougeScore {
  double precision = 0, recall = 0, f = 0;
};

/// All from 0 to 100.
struct Rouge {
  RougeScore rouge1, rouge2;  ///< words, pairs of words
  RougeScore rouge_l;         ///< the longest common subsequence of the whole texts
  RougeScore rouge_lsum;      ///< the union of those of each sentence with all the text's sentences
};

/// Segment by segment; of several references each score has the one that gives it the best F.
std::vector<Rouge> segment_rouge(const Segments& hypotheses, const References& references,
                                 const RougeOptions& options = {});

/// Means over the segments. Throws InvalidInput as check_segments does.
Rouge rouge(const Segments& hypotheses, const References& references, const RougeOptions& options = {});

Metric rouge_metric();

}  // namespace synthesizer
