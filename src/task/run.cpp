#include "task/run.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <filesystem>

#include "attention/parameter.h"
#include "base/error.h"
#include "model/prepare.h"
#include "task/registry.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;
}

void check_tokenizer(const std::string& file, const Tokenizers& tokenizers) {
  const TensorFile weights(file);
  const auto trained_with = weights.metadata().find("tokenizer");
  if (trained_with == weights.metadata().end() || trained_with->second == tokenizers.hash()) return;
  invalid(
      fmt::format("{} was trained with another tokenizer than the tokenizer.model beside it: put the run's "
                  "own back",
                  file));
}

OpenRun open_run(const std::string& path, const std::string& weights) {
  const RunFolder folder{path};
  if (!fs::is_directory(path)) invalid(fmt::format("{} is no run: there is no such folder", path));
  if (!fs::exists(folder.config()))
    invalid(fmt::format("{} is no run: it has no config.toml (synth train makes one)", path));
  const Recipe recipe = load_recipe(folder.config());
  const bool last = weights == "last";
  const std::string file = folder.weights(weights);
  if (!fs::exists(file)) {
    invalid(fmt::format("{} has no {}: {}", path, fs::path(file).filename().string(),
                        weights == "averaged" ? "make it with synth average" : "train it first"));
  }
  auto tokenizers = load_tokenizers(path);
  check_tokenizer(file, tokenizers);
  auto task = [&] {
    const LeaveUndrawn undrawn;
    return find_task(recipe.task).make(recipe, std::move(tokenizers));
  }();
  load_weights(file, task->model(), last ? kModelPrefix : "");
  prepare_for_inference(task->model());
  return {folder, std::move(task)};
}

std::unique_ptr<Task> prepared_copy(Task& task) {
  const LeaveUndrawn undrawn;
  auto copy = find_task(task.recipe().task).make(task.recipe(), task.tokenizers());
  share_tensors(task.model(), copy->model());
  prepare_for_inference(copy->model());
  return copy;
}

std::vector<std::string> split_files(const Recipe& recipe, const std::vector<std::string>& data) {
  if (data.empty()) return split_files(recipe, {recipe.data.test.empty() ? "dev" : "test"});
  if (data.size() == 1 && (data[0] == "train" || data[0] == "dev" || data[0] == "test")) {
    const auto& files = data[0] == "train" ? recipe.data.train
                        : data[0] == "dev" ? recipe.data.dev
                                           : recipe.data.test;
    if (files.empty()) invalid(fmt::format("this run's recipe has no data.{}: name the files", data[0]));
    return files;
  }
  std::vector<std::string> files;
  for (const std::string& file : data) files.push_back(fs::absolute(file).string());
  return files;
}

}  // namespace synthesizer
