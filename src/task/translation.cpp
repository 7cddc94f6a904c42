#include "task/translation.h"

namespace synthesizer {
namespace {

/// Per cent of the lines that are their first reference.
double exact_matches(const Segments& written, const References& references) {
  int64_t exact = 0;
  for (size_t i = 0; i < written.size(); ++i) exact += written[i] == references[0][i] ? 1 : 0;
  return static_cast<double>(exact) / static_cast<double>(written.size()) * 100;
}

}  // namespace

std::vector<std::string> TranslationTask::watchable() const {
  std::vector<std::string> scores = recipe().data.metrics;
  scores.insert(scores.begin(), "loss");
  return scores;
}

void TranslationTask::score_texts(const Segments& written, const References& references,
                                  Evaluation& result) const {
  for (const std::string& metric : recipe().data.metrics) {
    if (metric == "exact_match") {
      result.scores.emplace_back(metric, exact_matches(written, references));
    } else {
      measure(metric, {}, written, references, {metric}, result);
    }
  }
}

}  // namespace synthesizer
