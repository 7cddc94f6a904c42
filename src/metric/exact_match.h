#pragma once

#include "metric/metric.h"

namespace synthesizer {

/// Per cent of the texts that are one of their references, letter by letter: for short outputs such as
/// numbers, where n-gram scores say little. (Question answering has an exact match of its own, which forgives
/// case and articles: question_answering.h.)
Metric exact_match_metric();

}  // namespace synthesizer
