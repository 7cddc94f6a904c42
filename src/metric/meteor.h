#pragma once

#include "metric/metric.h"
#include "metric/wordnet.h"

namespace synthesizer {

/// METEOR (Lavie & Agarwal, 2007) as NLTK 3.10 computes it: words between white space, in small letters, are
/// aligned where they are equal, then where their Porter stems are, then where the hypothesis' (now a stem)
/// has the reference's among its synonyms; each time from the last word to the first. Recall weighs 9 times
/// as much as precision, and up to half is taken off for order, by the number of runs that are aligned.
/// Of several references the best counts. Mean over the segments, 0 to 100.
/// Throws InvalidInput as check_segments does.
double meteor(const Segments& hypotheses, const References& references, const WordNet& wordnet);

/// Segment by segment, 0 to 100.
std::vector<double> segment_meteor(const Segments& hypotheses, const References& references,
                                   const WordNet& wordnet);

Metric meteor_metric();

}  // namespace synthesizer
