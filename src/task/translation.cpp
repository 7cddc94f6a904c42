#include "task/translation.h"

namespace synthesizer {

void TranslationTask::score_texts(const Segments& written, const References& references,
                                  Evaluation& result) const {
  measure("bleu", {}, written, references, {"bleu"}, result);
  measure("chrf", {}, written, references, {"chrf"}, result);
  int64_t exact = 0;
  for (size_t i = 0; i < written.size(); ++i) exact += written[i] == references[0][i] ? 1 : 0;
  result.scores.emplace_back("exact_match",
                             static_cast<double>(exact) / static_cast<double>(written.size()) * 100);
}

}  // namespace synthesizer
