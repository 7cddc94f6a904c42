#pragma once

#include "task/task.h"

namespace synthesizer {

/// The models of Hugging Face that a run can be.
enum class HuggingFaceLayout { marian, t5, gpt2, bert };

/// The layout that has all that the run's model has; what a layout does not have but can say in other words
/// (biases of zero, positions as a table) counts as had. Throws InvalidInput where there is none, naming the
/// settings that differ from the nearest one.
HuggingFaceLayout huggingface_layout(const Task& task);

}  // namespace synthesizer
