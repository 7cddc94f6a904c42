#pragma once

#include <string>
#include <vector>

#include "task/run.h"

namespace synthesizer {

/// What became of one table.
struct ConvertedTable {
  std::string layer, member;   ///< "encoder.layers.0", "R"
  std::vector<double> errors;  ///< a head: see LowRank::error
};

struct Conversion {
  std::unique_ptr<Task> task;  ///< with the new recipe and the new weights
  std::vector<ConvertedTable> tables;
};

/// The attention of a recipe with every random table (R, Fix, or FR of another rank) as a factorized one
/// (FR): "R+V" becomes "FR+V".
std::string factorized_spec(const std::string& spec);

/// The same model with every random table replaced by its nearest factors of that rank (low_rank.h). `split`:
/// its texts say which entries of the tables count most; null: all alike. Throws InvalidInput where there is
/// nothing to convert, or the rank is out of its range.
Conversion factorize(Task& task, int64_t rank, const Dataset* split);

}  // namespace synthesizer
