#include "task/span_corruption_task.h"

#include "task/corrupted_text.h"
#include "task/registry.h"

namespace synthesizer {

SpanCorruptionTask::SpanCorruptionTask(Recipe recipe, Tokenizers tokenizers)
    : SequenceTask(std::move(recipe), std::move(tokenizers), kSentinels) {}

std::unique_ptr<Dataset> SpanCorruptionTask::open(const std::vector<std::string>& paths,
                                                  bool training) const {
  return open_corrupted(*this, files_of(recipe(), paths), {max_source() + 1, max_target() + 1}, training);
}

Evaluation SpanCorruptionTask::evaluate(const Dataset& data, bool, const DecodeOptions&) {
  Evaluation result{likelihood(data), {}, {}};
  result.scores.insert(result.scores.begin() + 1, {"log_perplexity", result.scores.front().second});
  return result;
}

}  // namespace synthesizer
