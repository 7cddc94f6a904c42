#include "interop/import_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attention/parameter.h"
#include "base/error.h"
#include "interop/family.h"
#include "interop/foreign_files.h"
#include "task/registry.h"

namespace synthesizer {
namespace {

namespace fs = std::filesystem;

struct Family {
  const char* type;  ///< model_type of config.json
  ModelPlan (*plan)(ModelFolder&);
};
constexpr Family kFamilies[] = {
    {"marian", plan_marian},
    {"t5", plan_t5},
    {"gpt2", plan_gpt2},
    {"bert", plan_bert},
};

const Family& family_of(ForeignConfig& config) {
  const std::string type = config.text("model_type", "");
  const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& family) { return family.type == type; });
  if (found != std::end(kFamilies)) return *found;
  config.refuse("model_type", fmt::format("is \"{}\": {} are supported", shortened(type),
                                          fmt::join(importable_families(), ", ")));
}

ModelFolder open_folder(const ImportOptions& options) {
  const std::string& path = options.folder;
  const std::string config = path + "/config.json";
  if (!fs::exists(config)) {
    invalid(fmt::format(
        "{} is not a model of Hugging Face or Marian: it has no config.json and no decoder.yml", path));
  }
  return {path, ForeignConfig(config), {}, IgnoredSettings(options.ignored)};
}

std::unique_ptr<Task> filled_task(const ModelPlan& plan, ForeignWeights& weights) {
  check(plan.recipe);
  auto task = [&] {
    const SkipInitialization skip_initialization;
    return find_task(plan.recipe.task).make(plan.recipe, plan.tokenizers);
  }();
  fill_model(task->model(), plan.rules, weights);
  task->model().eval();
  return task;
}

}  // namespace

std::vector<std::string> importable_families() {
  std::vector<std::string> names;
  for (const Family& family : kFamilies) names.emplace_back(family.type);
  return names;
}

std::unique_ptr<Task> import_model(const ImportOptions& options) {
  const std::string& path = options.folder;
  if (!fs::is_directory(path)) {
    invalid(
        fmt::format("{} is not a folder: a model of the Hugging Face Hub is downloaded first, by hf "
                    "download NAME --local-dir FOLDER",
                    path));
  }
  if (const std::string decoder = marian_decoder_file(path);
      !decoder.empty() && !fs::exists(path + "/config.json")) {
    IgnoredSettings ignored(options.ignored);
    auto weights = ForeignWeights::load({marian_model_file(decoder)});
    const ModelPlan plan = plan_marian_npz(decoder, weights, ignored);
    ignored.check_all_found();
    return filled_task(plan, weights);
  }
  ModelFolder folder = open_folder(options);
  const Family& family = family_of(folder.config);
  if (const auto& pruned = folder.config.value("pruned_heads"); !pruned.empty())
    folder.config.refuse("pruned_heads", "is not empty: models without some heads are not supported");
  folder.weights = ForeignWeights::load(weight_files(path));
  const ModelPlan plan = family.plan(folder);
  folder.config.check_all_read(folder.ignored);
  folder.ignored.check_all_found();
  return filled_task(plan, folder.weights);
}

}  // namespace synthesizer
