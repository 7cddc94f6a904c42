#pragma once

#include <functional>
#include <string>
#include <vector>

#include "task/task.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// A line's tokens where they are at most `limit`. Longer ones are cut, and that is remarked, or are an
/// error, as `too_long` says; `number`: of the line, for messages.
Tokens cut_line(Tokens tokens, int64_t limit, int64_t number, LongLine too_long,
                std::vector<std::string>& remarks);

/// Throws InvalidInput where a text that somebody gave has more tokens than the model can take.
void check_length(const char* what, const Tokens& tokens, int64_t limit);

/// Calls `work` with the numbers of texts that make one batch of at most about `batch_tokens`, padding
/// included, until each has had its turn. Longest first, so that what needs most memory comes at once.
void in_batches(const std::vector<Tokens>& texts, int64_t batch_tokens,
                const std::function<void(const std::vector<size_t>&)>& work);

}  // namespace synthesizer
