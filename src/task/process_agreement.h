#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "task/recipe.h"
#include "task/task.h"
#include "train/process_group.h"

namespace synthesizer {

/// What all processes that work together must have alike: the recipe, places of files and numbers of threads
/// aside, the contents of the data, and `others`: values by the names that messages have for them. Throws
/// std::runtime_error in all of them, with the rank and what differs.
void check_agreement(ProcessGroup& group, const Recipe& recipe, const std::vector<const Dataset*>& data,
                     const std::map<std::string, std::string>& others = {});

/// Rank 0's tokenizers, in every process. `make` is called by rank 0 alone.
Tokenizers share_tokenizers(ProcessGroup* group, const std::function<Tokenizers()>& make);

}  // namespace synthesizer
