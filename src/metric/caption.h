#pragma once

#include <array>

#include "metric/bleu.h"
#include "metric/metric.h"

namespace synthesizer {

/// The scores of captions, and of answers in dialogues, as the COCO caption toolkit (pycocoevalcap 1.2)
/// computes them, with words between white space in place of its Java tokenizer. All times 100.
struct Caption {
  std::array<double, kBleuOrder> bleu{};  ///< of n-grams up to each order
  double rouge_l = 0;                     ///< mean over the segments
  double cider = 0;                       ///< up to 1000, see cider.h
};

/// Throws InvalidInput as check_segments does.
Caption caption(const Segments& hypotheses, const References& references);

Metric caption_metric();

}  // namespace synthesizer
