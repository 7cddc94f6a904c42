#include "task/translation.h"

namespace synthesizer {

std::vector<std::string> TranslationTask::watchable() const {
  std::vector<std::string> scores = recipe().data.metrics;
  scores.insert(scores.begin(), "loss");
  return scores;
}

void TranslationTask::score_texts(const Segments& written, const References& references,
                                  Evaluation& result) const {
  for (const std::string& metric : recipe().data.metrics)
    measure(metric, {}, written, references, {metric}, result);
}

}  // namespace synthesizer
