#include "task/run.h"

#include <fmt/format.h>
#include <torch/nn/module.h>

#include <filesystem>

#include "attention/parameter.h"
#include "base/error.h"
#include "base/nearest.h"
#include "model/prepare.h"
#include "task/registry.h"
#include "train/checkpoint.h"
#include "train/safetensors.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

/// Says why there are no such weights, and what to do.
[[noreturn]] void missing_weights(const RunFolder& folder, const std::string& weights) {
  const std::string& path = folder.path;
  const std::string file = folder.weights(weights);
  if (file == weights) {
    static const std::vector<std::string> known = {"best", "last", "averaged"};
    invalid(fmt::format("--weights {}: there is no such file; of {} there are best, last, averaged{}",
                        weights, path, did_you_mean(weights, known)));
  }
  const std::string name = fs::path(file).filename().string();
  if (weights == "averaged") invalid(fmt::format("{} has no {}: make it with synth average", path, name));
  if (weights == "last" && fs::exists(folder.model()))
    invalid(fmt::format("{} has no {}: it was not trained here; use --weights best", path, name));
  invalid(fmt::format("{} has no {}: its training has not saved yet; go on with synth train, or delete it",
                      path, name));
}

}  // namespace

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
  folder.check_is_run();
  const Recipe recipe = load_recipe(folder.config());
  const bool last = weights == "last";
  const std::string file = folder.weights(weights);
  if (!fs::exists(file)) missing_weights(folder, weights);
  auto tokenizers = load_tokenizers(path);
  check_tokenizer(file, tokenizers);
  auto task = [&] {
    const SkipInitialization skip_initialization;
    return find_task(recipe.task).make(recipe, std::move(tokenizers));
  }();
  load_weights(file, task->model(), last ? kModelPrefix : "");
  prepare_for_inference(task->model());
  return {folder, std::move(task)};
}

std::unique_ptr<Task> prepared_copy(Task& task) {
  const SkipInitialization skip_initialization;
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
  for (const std::string& file : data)  // an empty name is no file: text-to-text without that task
    files.push_back(file.empty() ? "" : fs::absolute(file).string());
  return files;
}

}  // namespace synthesizer
