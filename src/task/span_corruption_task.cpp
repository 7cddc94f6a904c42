#include "task/span_corruption_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "task/open_lines.h"
#include "task/registry.h"
#include "text/span_corruption.h"
#include "text/stream_batches.h"

namespace synthesizer {

SpanCorruptionTask::SpanCorruptionTask(Recipe recipe, Tokenizers tokenizers)
    : SequenceTask(std::move(recipe), std::move(tokenizers), kSentinels) {}

std::unique_ptr<Dataset> SpanCorruptionTask::open(const std::vector<std::string>& paths,
                                                  bool training) const {
  const Tokenizer& tokenizer = *tokenizers().source;
  const SpanCorruption how{.share = recipe().data.corruption,
                           .mean_length = recipe().data.mean_span,
                           .first_sentinel = tokenizer.size(),
                           .sentinels = kSentinels,
                           .begin = tokenizer.begin(),
                           .end = tokenizer.end()};
  auto store = open_store(*this, files_of(recipe(), paths), {&tokenizer});
  StreamBatchOptions options;
  options.line_end = tokenizer.line_end();
  options.first = tokenizer.begin();
  options.length = text_length(max_source() + 1, how);
  options.rows = std::max<int64_t>(1, recipe().train.batch_tokens / (max_source() + 1));
  options.seed = static_cast<uint64_t>(recipe().seed);
  options.shuffle = training;
  auto windows = std::make_unique<StreamBatches>(*store, options);
  RandomNumbers any(1);
  const auto whole = corrupt(std::vector<int64_t>(static_cast<size_t>(options.length)), how, any);
  if (static_cast<int64_t>(whole.target.size()) - 1 > max_target() + 1) {
    invalid(fmt::format(
        "what is taken out of {} tokens is {} tokens with its sentinels, and the target side takes {}: raise "
        "data.max_length, or lower data.corruption or data.max_source_length",
        options.length, whole.target.size() - 1, max_target() + 1));
  }
  auto data = std::make_unique<Dataset>();
  data->paths = store->files().paths;
  data->tokens = windows->tokens() / options.length * static_cast<int64_t>(whole.target.size() - 1);
  data->batches = std::make_unique<CorruptedBatches>(std::move(windows), how, options.seed);
  data->stores.push_back(std::move(store));
  return data;
}

Evaluation SpanCorruptionTask::evaluate(const Dataset& data, bool, const DecodeOptions&) {
  Evaluation result{likelihood(data), {}, {}};
  result.scores.insert(result.scores.begin() + 1, {"log_perplexity", result.scores.front().second});
  return result;
}

}  // namespace synthesizer
