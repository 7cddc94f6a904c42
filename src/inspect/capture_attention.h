#pragma once

#include "inspect/weight_map.h"
#include "task/task.h"

namespace synthesizer {

/// Runs one ordinary forward pass over one example and returns the weights of every attention layer.
std::vector<CapturedLayer> capture_attention(Task& task, const Batch& example);

/// One row of a batch as a batch of its own, without padding; `limit`: at most so many tokens, 0: all.
Batch single_row(const Batch& batch, size_t row, int64_t limit = 0);

/// What the tokens of each side read as.
struct SideTokens {
  Side side;
  std::vector<std::string> pieces;
};
std::vector<SideTokens> tokens_of(const Task& task, const Batch& example);

/// A text as an example of the task. Where the task turns one text into another and no target is given, it is
/// what the model writes (greedily). Throws InvalidInput where a text is empty, not UTF-8 or too long for the
/// model, or where there can be no target.
struct GivenText {
  std::string text, target;
  Batch example;
};
GivenText example_of(Task& task, const std::string& text, const std::string& target);

}  // namespace synthesizer
