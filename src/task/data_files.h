#pragma once

#include <string>
#include <vector>

#include "task/recipe.h"
#include "text/examples.h"

namespace synthesizer {

/// The files that each entry of a split names.
using Shards = std::vector<std::vector<std::string>>;

/// The files that each entry of a split names, in the order of their names: "part-*.txt" several, a plain
/// name one, an empty name none. `*`, `?` and `[…]` are as in a shell; a file that has that very name is
/// meant itself. Throws InvalidInput where a pattern names no file.
Shards expand_patterns(const Recipe& recipe, const std::vector<std::string>& patterns);

/// Files that are read side by side, shard after shard: the first of each pattern, then the second of each.
/// Throws InvalidInput where the patterns name different numbers of files.
std::vector<std::string> side_by_side(const std::vector<std::string>& patterns, const Shards& shards);

/// Leaves out all but the first fields of parallel files.
void keep_fields(Files& files, size_t fields);

/// Where tokenized text and other things that can be made again are kept.
std::string cache_folder(const Recipe& recipe);

}  // namespace synthesizer
