// How a SequenceTask writes: lines to batches, search, text again.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "decode/beam.h"
#include "decode/greedy.h"
#include "task/batch_tensors.h"
#include "task/line_work.h"
#include "task/sequence_task.h"

namespace synthesizer {
namespace {

/// Tokens beyond the tokenizer's have no text.
Tokens without_sentinels(const std::vector<int64_t>& tokens, const Tokenizer& tokenizer) {
  Tokens kept;
  for (const int64_t token : tokens) {
    if (token < tokenizer.size()) kept.push_back(static_cast<Token>(token));
  }
  return kept;
}

}  // namespace

std::vector<std::vector<Translation>> SequenceTask::translate_batch(const std::vector<const Tokens*>& sources,
                                                                    const DecodeOptions& options) {
  const auto& [source, target] = tokenizers();
  std::vector<std::vector<int64_t>> rows;
  std::vector<int64_t> limits;
  for (const Tokens* tokens : sources) {
    rows.emplace_back(tokens->begin(), tokens->end()).push_back(source->end());
    const int64_t limit =
        options.max_length > 0 ? options.max_length : 2 * static_cast<int64_t>(tokens->size()) + 20;
    limits.push_back(std::min(max_target(), limit));
  }
  const auto input = tensors_of(field_of(rows));
  const auto steps = model_->start(model_->encode(input.tokens, input.lengths), input.lengths);
  const auto search = options.beam == 1 ? greedy_search : beam_search;
  std::vector<std::vector<Translation>> results;
  for (const auto& hypotheses : search(*steps, target->begin(), target->end(), limits, options)) {
    auto& best = results.emplace_back();
    for (const Hypothesis& h : hypotheses) {
      best.push_back({target->decode(without_sentinels(h.tokens, *target)), h.score, h.log_probability});
    }
  }
  return results;
}

std::vector<std::vector<Translation>> SequenceTask::translate(const std::vector<std::string>& lines,
                                                              const DecodeOptions& options,
                                                              int64_t batch_tokens, LongLine too_long,
                                                              int64_t first_line,
                                                              std::vector<std::string>& remarks) {
  c10::NoGradGuard no_grad;
  expect_inference();
  std::vector<Tokens> sources;
  for (const std::string& line : lines) {
    const int64_t number = first_line + static_cast<int64_t>(sources.size());
    sources.push_back(
        cut_line(tokenizers().source->encode(source_of(line)), max_source(), number, too_long, remarks));
  }
  std::vector<std::vector<Translation>> results(lines.size(), {Translation{}});
  in_batches(sources, batch_tokens, [&](const std::vector<size_t>& numbers) {
    std::vector<const Tokens*> batch;
    for (const size_t n : numbers) {
      if (!sources[n].empty()) batch.push_back(&sources[n]);  // the empty ones come last and stay empty
    }
    if (batch.empty()) return;
    auto translated = translate_batch(batch, options);
    for (size_t i = 0; i < batch.size(); ++i) results[numbers[i]] = std::move(translated[i]);
  });
  return results;
}

}  // namespace synthesizer
