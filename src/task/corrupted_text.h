#pragma once

#include "task/task.h"

namespace synthesizer {

/// Tokens beyond the tokenizer's that stand for what was taken out; T5 has as many. Models that are trained
/// on from such a run have them too.
inline constexpr int64_t kSentinels = 100;

/// Longest source and target, the end (source) or the begin (target) included.
struct SequenceLimits {
  int64_t source = 0, target = 0;
};

/// Plain text in windows, spans of which are taken out (text/span_corruption.h), by data.corruption and
/// data.mean_span of the task's recipe. Throws InvalidInput where what is taken out does not fit the target.
std::unique_ptr<Dataset> open_corrupted(const Task& task, const Files& files, SequenceLimits limits,
                                        bool training);

}  // namespace synthesizer
