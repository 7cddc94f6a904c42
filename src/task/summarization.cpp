#include "task/summarization.h"

namespace synthesizer {

void SummarizationTask::score_texts(const Segments& written, const References& references,
                                    Evaluation& result) const {
  measure("rouge", {}, written, references, {"rouge1", "rouge2", "rougeL", "rougeLsum"}, result);
}

}  // namespace synthesizer
