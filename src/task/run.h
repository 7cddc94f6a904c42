#pragma once

#include <memory>
#include <string>

#include "run/run_folder.h"
#include "task/task.h"

namespace synthesizer {

/// A run that exists: its recipe, its tokenizers, and the task with its weights loaded and prepared for
/// inference (model/prepare.h).
struct OpenRun {
  RunFolder folder;
  std::unique_ptr<Task> task;
};

/// `weights`: "best" (model.safetensors), "last", "averaged", or a file. Throws InvalidInput where the folder
/// is not a run folder, a file of it is damaged, or the tokenizer is not the one the weights were trained
/// with.
OpenRun open_run(const std::string& path, const std::string& weights = "best");

/// The same task with the same weights, prepared for inference (model/prepare.h): to validate a model that is
/// being trained. It shares the memory of the weights: to be used and freed before they change.
std::unique_ptr<Task> prepared_copy(Task& task);

/// Throws InvalidInput where the weights in that file were trained with other tokenizers.
void check_tokenizer(const std::string& file, const Tokenizers& tokenizers);

/// The files that `--data` names: "train", "dev" or "test" of the recipe, or files themselves (which are
/// then meant from where the user stands). None: the test split where there is one, else dev.
std::vector<std::string> split_files(const Recipe& recipe, const std::vector<std::string>& data);

}  // namespace synthesizer
