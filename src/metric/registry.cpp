#include "metric/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "metric/bleu.h"
#include "metric/caption.h"
#include "metric/chrf.h"
#include "metric/classify.h"
#include "metric/embedding.h"
#include "metric/exact_match.h"
#include "metric/meteor.h"
#include "metric/regress.h"
#include "metric/rouge.h"
#include "text/unicode_text.h"

namespace synthesizer {

/// The list itself: add a metric by adding its line.
const std::vector<Metric>& metrics() {
  // clang-format off
  static const std::vector<Metric> list = {
      bleu_metric(),
      chrf_metric(),
      rouge_metric(),
      caption_metric(),
      meteor_metric(),
      embedding_metric(),
      exact_match_metric(),
      classify_metric(),
      regress_metric(),
  };
  // clang-format on
  return list;
}

const Metric& find_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) {
    if (metric.name == unicode::lowercase(name)) return metric;
    names.push_back(metric.name);
  }
  invalid(fmt::format("no metric '{}'{} (there are {})", name, did_you_mean(name, names),
                      fmt::join(names, ", ")));
}

}  // namespace synthesizer
