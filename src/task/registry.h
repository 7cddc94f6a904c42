#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/options.h"
#include "task/data_files.h"
#include "task/task.h"

namespace synthesizer {

/// One line a task.
struct TaskInfo {
  std::string name;  ///< "translation", as recipes say it
  std::string help;
  size_t fields;            ///< texts an example has
  bool concatenated;        ///< files follow one another instead of standing side by side
  std::vector<Side> sides;  ///< that its model has
  std::unique_ptr<Task> (*make)(Recipe, Tokenizers);

  size_t first_text = 0;  ///< fields before it are labels, not text
  /// How records become examples, where they are not. Files::paths are those of the shards, in their order.
  void (*set_converter)(const Recipe&, const Shards&, Files&) = nullptr;
  void (*complete)(Recipe&) = nullptr;  ///< fills in what the training text decides
  bool own_format = false;              ///< it reads the lines of any file itself
};

const std::vector<TaskInfo>& tasks();
/// Throws InvalidInput, with the nearest name, where there is none of that name.
const TaskInfo& find_task(const std::string& name);

/// The files of a split as the recipe's task reads them, below data.root.
Files files_of(const Recipe& recipe, const std::vector<std::string>& paths);

}  // namespace synthesizer
