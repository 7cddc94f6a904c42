#pragma once

#include <string>
#include <vector>

#include "task/task.h"
#include "text/tokenizer.h"

namespace synthesizer {

/// A line's tokens where they are at most `limit`. Longer ones are cut, and that is remarked, or are an
/// error, as `too_long` says; `number`: of the line, for messages.
Tokens truncate_line(Tokens tokens, int64_t limit, int64_t number, LongLine too_long,
                     std::vector<std::string>& remarks);

/// Throws InvalidInput where a given text has more tokens than the model supports.
void check_length(const char* what, const Tokens& tokens, int64_t limit);

/// The numbers of texts that make one batch of at most about `batch_tokens`, padding included; each text is
/// in one of them. Longest first, so that what needs most memory comes at once.
std::vector<std::vector<size_t>> inference_batches(const std::vector<Tokens>& texts, int64_t batch_tokens);

}  // namespace synthesizer
