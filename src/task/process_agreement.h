#pragma once

#include <string>
#include <vector>

#include "task/recipe.h"
#include "task/task.h"
#include "train/process_group.h"

namespace synthesizer {

/// What all processes that train together must have alike: the recipe, places of files and numbers of threads
/// aside, and the contents of the data. Throws std::runtime_error in all of them, with the rank and what
/// differs.
void check_agreement(ProcessGroup& group, const Recipe& recipe, const std::vector<const Dataset*>& data);

/// Rank 0's tokenizers, in every process. `make` is called by rank 0 alone.
Tokenizers share_tokenizers(ProcessGroup* group, const std::function<Tokenizers()>& make);

}  // namespace synthesizer
