#pragma once

#include "task/task.h"
#include "text/line_batches.h"

namespace synthesizer {

/// A split whose examples are lines: the limits, and tokens put around each field, as the task says.
struct LineFraming {
  std::vector<int64_t> max_lengths;          ///< tokens of the text itself, a field
  std::vector<std::optional<Token>> before;  ///< a field
  std::vector<std::optional<Token>> after;
};

std::unique_ptr<TokenStore> open_store(const Task& task, const Files& files,
                                       const std::vector<const Tokenizer*>& tokenizers);
std::unique_ptr<Dataset> open_lines(const Task& task, std::unique_ptr<TokenStore> store, LineFraming framing,
                                    bool training);

}  // namespace synthesizer
