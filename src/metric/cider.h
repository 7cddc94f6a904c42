#pragma once

#include "metric/metric.h"

namespace synthesizer {

/// CIDEr-D (Vedantam et al., 2015) as the COCO caption toolkit (pycocoevalcap 1.2) computes it, words between
/// white space, times 100: the mean over n-grams of orders 1 to 4 of ten times the cosine of tf-idf weights,
/// clipped at the reference's and damped where the lengths differ. An n-gram's document frequency is the
/// number of segments whose references have it; with one segment all weights are 0.
/// Throws InvalidInput as check_segments does.
double cider(const Segments& hypotheses, const References& references);

/// What each segment adds to that mean; the document frequencies are those of all segments.
std::vector<double> segment_cider(const Segments& hypotheses, const References& references);

}  // namespace synthesizer
