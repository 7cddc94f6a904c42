#include "task/corrupted_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "task/open_lines.h"
#include "text/span_corruption.h"
#include "text/stream_batches.h"

namespace synthesizer {

std::unique_ptr<Dataset> open_corrupted(const Task& task, const Files& files, SequenceLimits limits,
                                        bool training) {
  const Recipe& recipe = task.recipe();
  const Tokenizer& tokenizer = *task.tokenizers().source;
  const SpanCorruption how{.share = recipe.data.corruption,
                           .mean_length = recipe.data.mean_span,
                           .first_sentinel = tokenizer.size(),
                           .sentinels = kSentinels,
                           .begin = tokenizer.begin(),
                           .end = tokenizer.end()};
  auto store = open_store(task, files, {&tokenizer});
  StreamBatchOptions options;
  options.line_end = tokenizer.line_end();
  options.first = tokenizer.begin();
  options.length = text_length(limits.source, how);
  options.rows = std::max<int64_t>(1, recipe.train.batch_tokens / limits.source);
  options.seed = static_cast<uint64_t>(recipe.seed);
  options.shuffle = training;
  auto windows = std::make_unique<StreamBatches>(*store, options);
  RandomNumbers any(1);
  const auto whole = corrupt(std::vector<int64_t>(static_cast<size_t>(options.length)), how, any);
  if (static_cast<int64_t>(whole.target.size()) - 1 > limits.target) {
    invalid(fmt::format(
        "what is taken out of {} tokens is {} tokens with its sentinels, and the target side takes {}: raise "
        "data.max_length, or lower data.corruption or data.max_source_length",
        options.length, whole.target.size() - 1, limits.target));
  }
  auto data = std::make_unique<Dataset>();
  data->paths = store->files().paths;
  data->windows = std::max<int64_t>(1, windows->tokens() / options.length);
  data->tokens = windows->tokens() / options.length * static_cast<int64_t>(whole.target.size() - 1);
  data->batches = std::make_unique<CorruptedBatches>(std::move(windows), how, options.seed);
  data->stores.push_back(std::move(store));
  return data;
}

}  // namespace synthesizer
